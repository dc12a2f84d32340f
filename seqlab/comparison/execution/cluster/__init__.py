"""The jobs of a comparison as tasks of a Ray cluster; imported only if it is asked for."""
