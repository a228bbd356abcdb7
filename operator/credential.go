package operator

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/operator/internal/certificate"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/operkit/operkit/reconcile/tlsfiles"
)

// credential is the certificate with which webhooks are served.
type credential struct {
	server *tls.Config
	// cas returns the CAs that the API server has to trust, as PEM, nil if somebody else tells it.
	cas func() ([]byte, error)
	// follow calls changed when cas may return others, until ctx ends.
	follow func(ctx context.Context, changed func())
	// close waits until everything has ended that was started.
	close func()
}

// newCredential returns the certificate that the settings choose. What it starts ends with ctx.
func (r *runner) newCredential(ctx context.Context, target webhooks.Target) (credential, error) {
	switch {
	case r.Webhooks.CertificateDirectory != "":
		return r.mounted()
	case target.Namespace == "":
		return inMemory(webhookHosts(target)[0])
	}
	return r.shared(ctx, target)
}

// inMemory returns a certificate for the life of the process, for a process that has no namespace for a Secret.
func inMemory(host string) (credential, error) {
	server, err := certificate.SelfSigned(host)
	if err != nil {
		return credential{}, err
	}
	var text bytes.Buffer
	for _, one := range server.Certificates[0].Certificate {
		_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: one}) // a Buffer takes everything
	}
	return credential{
		server: server, cas: func() ([]byte, error) { return text.Bytes(), nil },
		follow: func(context.Context, func()) {}, close: func() {},
	}, nil
}

// mounted returns the certificate of a directory that somebody else renews.
func (r *runner) mounted() (credential, error) {
	dir := r.Webhooks.CertificateDirectory
	files, err := tlsfiles.Load(tlsfiles.Pair(dir), tlsfiles.Late(), tlsfiles.Logger(r.logger))
	if err != nil {
		return credential{}, fmt.Errorf("webhooks.certificate-directory: %w", err)
	}
	cas := func() ([]byte, error) {
		if r.Webhooks.InjectCAFrom != "" {
			return nil, nil
		}
		text, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("webhooks.certificate-directory: %w", err)
		}
		return text, nil
	}
	return credential{server: files.Server(), cas: cas, follow: poll(cas), close: func() {}}, nil
}

// shared returns the operator's own certificate, which all replicas share in a Secret.
func (r *runner) shared(context.Context, webhooks.Target) (credential, error) {
	return credential{}, errors.New("webhooks: set webhooks.certificate-directory")
}
