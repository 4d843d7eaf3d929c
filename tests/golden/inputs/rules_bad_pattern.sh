echo 'kernel gemm (unclosed' >my.rules
inquest breakdown 'samples/big_none.*' --rules my.rules
