package operator

import "github.com/operkit/operkit/reconcile/tlssecret"

// NamespaceFile has the operator find the namespace of its Pod in another file.
func NamespaceFile(path string) Option { return func(o *Operator) { o.namespaceFile = path } }

// CertificateLife sets the times of the certificate of webhooks.
func CertificateLife(life tlssecret.Life) Option { return func(o *Operator) { o.life = life } }
