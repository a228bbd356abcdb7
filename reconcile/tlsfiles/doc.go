// Package tlsfiles serves and dials TLS with certificates from files that somebody else renews: a mounted Secret of
// cert-manager or of the package kit/tls, or the files that OLM mounts.
//
//	pair, err := tlsfiles.Load(tlsfiles.Secret("/etc/tls"), tlsfiles.VerifyClients())
//	if err != nil {
//		return err
//	}
//	listener = tls.NewListener(listener, pair.Server())
//	...
//	transport := &http.Transport{TLSClientConfig: pair.Client("web.shop.svc")}
//
// Changed files are read without a restart. There is no goroutine: at a handshake the files are read again if a second
// has passed since they were read last, and parsed only if their content differs. That doesn't depend on file events,
// times of files or the form of the mount, so that it works for the ..data link of the kubelet, for files that are
// written in place, and for files that are removed and come again.
//
// # What isn't taken
//
// Files that can't be used, because they are missing, damaged or half-written, or because the key is another one's,
// never replace what is served. A certificate that isn't valid at present doesn't replace one that is. The reason is
// logged once, and returned by [Source.Check] as long as it lasts. A certificate that expires while it is served is
// still served, as clients decide about it by their own clocks. The files count together: while one of them can't be
// used, a CA that was removed from another one stays trusted.
//
// Errors name files and times. They never repeat what is in a file.
//
// # When to use it
//
// Use it inside a cluster. For a server on the Internet use a library that fetches certificates. To issue certificates,
// see package kit/tls.
package tlsfiles
