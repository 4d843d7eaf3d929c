echo 'kernel nonsense gemm' >my.rules
inquest breakdown 'samples/big_none.*' --rules my.rules
