// Package tlssecret gives a server of the process itself its certificate, such as the server of webhooks:
//
//	source, err := tlssecret.New(cluster, tlssecret.Config{
//		Namespace: "shop", Secret: "hooks-tls", Names: []string{"hooks.shop.svc"},
//	})
//	if err != nil {
//		return err
//	}
//	if err := source.Load(ctx); err != nil {
//		return err
//	}
//	go source.Run(ctx)
//	server := &http.Server{TLSConfig: source.Server()}
//
// The certificate, its key and the CA that has issued it are in one Secret, which all replicas share. Each replica reads
// and writes it, leader or not: who is first creates or renews, and the others use what is there. A change reaches them
// by a watch, without a restart. Settled, nothing is sent.
//
// Clients trust Source.CA. For webhooks this is the caBundle, which the API server may have a while later than the
// Secret: a certificate of a new CA is sent together with the certificate of that CA that the one before it has signed.
// So clients accept each replica at any time, those with the former bundle, too. A CA stays in the bundle until it has
// expired, or all certificates of it have.
//
// # The Secret
//
// It has the type kubernetes.io/tls, for other programs, too: tls.crt, tls.key and ca.crt. The key of the CA is in
// issuer.key: who mounts the Secret for another program leaves that out.
//
//	kubectl annotate secret SECRET operkit.dev/renew="$(date)" --overwrite
//
// replaces the CA and the certificate, once for each value, and not before the time Life.Wait has passed since the CA
// was replaced last.
//
// While a process runs, it puts the Secret in order: if it was deleted, or a part is damaged, what the process still has
// is stored again, with the same CA. A certificate of another CA in tls.crt is replaced. A CA that was stored by hand in
// issuer.crt and issuer.key is used: it is trusted at once, and issues certificates when Life.Wait has passed. So to
// distrust a CA at once, stop all replicas and delete the Secret.
//
// A Secret in which somebody else has stored a certificate before isn't changed. It is served as it is, and Check
// returns what to do.
//
// # Names
//
// Processes with different names, such as two versions in an upgrade, share one certificate with the names of all. Names
// that nobody asks for any more leave it when it is renewed. No process serves a certificate without its own names.
//
// # When to use it
//
// Use it for servers that the API server calls, and other clients of the same operator. For certificates of cert-manager
// or OLM, which are mounted, use tlsfiles. For the objects of a resource, use package kit/tls.
package tlssecret
