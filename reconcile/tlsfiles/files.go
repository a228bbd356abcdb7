package tlsfiles

import (
	"errors"
	"path/filepath"
)

// ServingCerts is the directory in which the webhook servers of kubebuilder look for a certificate. OLM mounts one for
// webhooks there, too: Pair(ServingCerts).
const ServingCerts = "/tmp/k8s-webhook-server/serving-certs"

// Files are the files of a certificate, all in PEM. Certificate and Key go together; without both there is only a CA,
// for clients that present no certificate.
type Files struct {
	// Certificate has the certificate, and after it certificates of intermediate CAs if there are any. Key has its key.
	Certificate, Key string
	// CA has the CAs to trust: those of clients on a server, those of servers on a client. If it is empty, a client
	// trusts the CAs of the system.
	CA string
}

// Secret returns the files of a mounted Secret of the type kubernetes.io/tls that has CAs, too, as cert-manager and
// kit/tls make it: tls.crt, tls.key and ca.crt.
func Secret(dir string) Files {
	files := Pair(dir)
	files.CA = filepath.Join(dir, "ca.crt")
	return files
}

// Pair returns the files of any mounted Secret of the type kubernetes.io/tls: tls.crt and tls.key.
func Pair(dir string) Files {
	return Files{Certificate: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
}

// OLM returns the files that OLM mounts into the Deployment of a webhook or of an API service. For webhooks it mounts
// the same certificate as Pair(ServingCerts).
func OLM() Files {
	const dir = "/apiserver.local.config/certificates"
	return Files{Certificate: filepath.Join(dir, "apiserver.crt"), Key: filepath.Join(dir, "apiserver.key")}
}

// validate returns what is wrong with the names of the files.
func (f Files) validate(verifiesClients bool) error {
	var errs []error
	if f == (Files{}) {
		errs = append(errs, errors.New("TLS from files: no file is named: set Certificate and Key, or CA"))
	}
	if (f.Certificate == "") != (f.Key == "") {
		errs = append(errs, errors.New("TLS from files: only one of Certificate and Key is named: name both"))
	}
	if verifiesClients && f.CA == "" {
		errs = append(errs, errors.New("TLS from files: the option VerifyClients needs the file CA"))
	}
	return errors.Join(errs...)
}
