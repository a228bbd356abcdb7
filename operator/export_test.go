package operator

// NamespaceFile has an operator find the namespace of its Pod in a file of the test.
func NamespaceFile(path string) Option { return func(o *Operator) { o.namespaceFile = path } }
