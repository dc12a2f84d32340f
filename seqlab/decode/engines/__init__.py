"""Language models as compiled token loops: the same texts as by `Generator.step`, many times as fast."""
