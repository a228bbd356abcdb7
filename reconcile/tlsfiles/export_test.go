package tlsfiles

// ReadFile sets what reads a file.
func ReadFile(read func(name string) ([]byte, error)) Option {
	return func(o *options) { o.readFile = read }
}
