// Package certificate serves TLS with a certificate from files that somebody else renews, or with a self-signed one.
//
//	served, err := certificate.Load("tls.crt", "tls.key", logger)
//	listener = tls.NewListener(listener, served.Config())
//
// Use it where a process serves HTTPS inside a cluster. For a server on the Internet use a library that fetches
// certificates.
package certificate
