"""Which kernel multiplies a shape the fastest, by the model of the machine, before anything is measured."""
