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
	"sync"
	"time"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator/internal/certificate"
	"github.com/operkit/operkit/operator/internal/webhooks"
	"github.com/operkit/operkit/reconcile/tlsfiles"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// credential is the certificate with which webhooks are served.
type credential struct {
	server *tls.Config
	// cas returns the CAs that the API server has to trust, as PEM, nil if somebody else tells it.
	cas func() ([]byte, error)
	// follow calls changed when cas may return others, until ctx ends.
	follow func(ctx context.Context, changed func())
	// expires returns the time until which it is valid, zero if there is none.
	expires func() time.Time
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
		server: server, cas: func() ([]byte, error) { return text.Bytes(), nil }, expires: func() time.Time { return time.Time{} },
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
		if files.Digest() == "" {
			return nil, fmt.Errorf("webhooks.certificate-directory: there is no certificate in %s yet", dir)
		}
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
	return credential{server: files.Server(), cas: cas, follow: poll(cas), expires: files.Expires, close: func() {}}, nil
}

// shared returns the operator's own certificate, which all replicas share in a Secret. It has a connection of its own,
// since every replica needs it.
func (r *runner) shared(ctx context.Context, target webhooks.Target) (credential, error) {
	var tells listener
	c := tlssecret.Config{
		Namespace: target.Namespace, Secret: webhooks.SecretName(r.Webhooks.Secret, r.operator.name), Names: webhookHosts(target),
		FieldManager: r.operator.manager.FieldManager() + "-webhooks", Domain: r.operator.domain(), Logger: r.logger, Changed: tells.tell,
		Life: r.operator.life,
	}
	client := rest.CopyConfig(r.plain)
	client.UserAgent += "/webhooks"
	api, err := cluster.New(ctx, client, cluster.Logger(r.logger), cluster.Namespaces(c.Namespace),
		cluster.Selected(schema.GroupKind{Kind: "Secret"}, labels.Everything(), c.Selector()))
	if err != nil {
		return credential{}, err
	}
	source, err := tlssecret.New(api, c)
	if err != nil {
		return credential{}, fmt.Errorf("webhooks.secret: %w", err)
	}
	if err := source.Load(ctx); err != nil { // what runs tries it again
		r.logger.Warn("there is no certificate for webhooks yet", "error", err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = source.Run(ctx) }) // its error is the end of ctx
	return credential{
		server: source.Server(), follow: tells.follow, expires: source.Expires,
		cas: func() ([]byte, error) {
			if cas := source.CA(); cas != nil {
				return cas, nil
			}
			return nil, fmt.Errorf("webhooks.secret: there is no certificate yet: %w", source.Check())
		},
		close: func() { running.Wait(); api.Wait() },
	}, nil
}

// listener is told that CAs have changed.
type listener struct {
	mu      sync.Mutex
	changed func()
}

// tell tells the one who follows.
func (l *listener) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		l.changed()
	}
}

// follow calls changed until ctx ends.
func (l *listener) follow(ctx context.Context, changed func()) {
	l.mu.Lock()
	l.changed = changed
	l.mu.Unlock()
	changed() // they may have changed before
	<-ctx.Done()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed = nil
}
