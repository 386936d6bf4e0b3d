from inner_h import ceil_div
