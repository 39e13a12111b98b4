"""Measurements. Ratios within one run, since machines differ; targets stand in the design."""
