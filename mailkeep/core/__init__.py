"""Words of the product: pure values and refusals, no input or output."""
