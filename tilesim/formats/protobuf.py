"""Protocol Buffers, as far as traces need them: fields of a message, written and read one by one, each a tag,
its number and how it is stored, then a varint, 8 or 4 bytes, or a length and as many bytes. Format:
protobuf.dev/programming-guides/encoding."""

from collections.abc import Iterator

from tilesim.errors import TraceError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
Value = int | bytes


def varint(number: int) -> bytes:
    """A whole number, seven bits a byte, the lowest first; a negative one as 64 bits."""
    number &= 2**64 - 1
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def field(number: int, value: int | str | bytes) -> bytes:
    """A field of a message: a number, a text, or a message that is encoded already.

    >>> field(1, 150).hex(), field(2, "hi").hex()
    ('089601', '12026869')
    """
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """(number, value) of each field of a message; raises TraceError where it is cut off or none.

    >>> list(fields(field(1, 150) + field(2, "hi")))
    [(1, 150), (2, b'hi')]
    """
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        value: Value
        if kind == VARINT:
            value, at = _varint(data, at)
        elif kind == BYTES:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
            value, at = int.from_bytes(data[at : at + length], "little"), at + length
        else:
            raise TraceError(
                f"this is no complete Perfetto trace: a field is stored in the unknown way {kind}"
            )
        if at > end:
            raise TraceError("this is no complete Perfetto trace: a field is cut off")
        yield number, value


def signed(value: Value) -> int:
    """A number of 64 bits with its sign; 0 for what is no number."""
    if not isinstance(value, int):
        return 0
    return value - 2**64 if value >= 2**63 else value


def text(value: Value) -> str:
    """Bytes as a text; "" for what is none."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def message(value: Value) -> bytes:
    """The bytes of a message inside another; none for what is a number."""
    return value if isinstance(value, bytes) else b""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(the number that begins at `at`, where it ends)."""
    # Most numbers are of one byte.
    if at < len(data) and data[at] < 0x80:
        return data[at], at + 1
    number = shift = 0
    for place in range(at, min(at + 10, len(data))):
        byte = data[place]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 2**64 - 1, place + 1
        shift += 7
    raise TraceError("this is no complete Perfetto trace: a number is cut off")
