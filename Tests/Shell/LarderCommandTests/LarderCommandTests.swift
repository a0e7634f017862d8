import Testing

@Suite struct LarderCommandTests {}
