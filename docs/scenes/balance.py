from manim import FadeIn, Scene

from tilesim_scenes.mobjects.charts.balance import Balance, Entry


class WherePersistentWins(Scene):
    def construct(self):
        causes = [Entry("shorter pauses", 6800), Entry("slower loops", -2300)]
        balance = Balance(causes, per_us=0.6).center()
        self.play(FadeIn(balance.rows))
        self.play(FadeIn(balance.result))
