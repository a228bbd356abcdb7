// Package certificate makes a self-signed certificate for a server that has no other one.
//
//	config, err := certificate.SelfSigned("metrics")
//	listener = tls.NewListener(listener, config)
//
// Use it where connections are to be encrypted although clients can't verify the server. For certificates in files see
// reconcile/tlsfiles.
package certificate
