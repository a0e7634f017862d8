import Testing

@Suite struct LarderShellTests {}
