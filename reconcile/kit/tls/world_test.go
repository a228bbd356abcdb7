package tls_test

import (
	"context"
	gotls "crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shopKind = schema.GroupVersionKind{Group: "tls.example.com", Version: "v1", Kind: "Shop"}

// newTea returns a shop whose components web and worker speak mutual TLS.
func newTea(spec map[string]any) *unstructured.Unstructured {
	return reconciletest.Resource(shopKind, "tea", spec)
}

// reader is a component that has a certificate, and the digest of it in a ConfigMap.
type reader struct{ cert *tls.Certificate }

// Build implements reconcile.Builder.
func (r *reader) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	if r.cert == nil {
		return errors.New("no certificate")
	}
	c.Add("settings", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": s.ScopedName(c.Name())},
		"data":     map[string]any{"secret": r.cert.Secret(), "digest": r.cert.Digest(), "ca": string(r.cert.CA())}})
	return nil
}

// shop has the component web, a server with the names in spec.names besides those of its Service, and the component
// worker, a client, which spec.idle disables.
func shop(opts ...tls.Option) reconcile.Controller {
	return reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		names, _, _ := unstructured.NestedStringSlice(s.Resource().Object, "spec", "names")
		idle, _, _ := unstructured.NestedBool(s.Resource().Object, "spec", "idle")
		server, client := &reader{}, &reader{}
		web, worker := s.Use("web", server), s.Use("worker", client)
		if idle {
			worker.Disable()
		}
		ca := tls.Own(s, opts...)
		server.cert = ca.Certificate(web, append(tls.Service("web", s.Namespace()), names...)...)
		client.cert = ca.Certificate(worker)
		return nil
	})
}

// The names of the Secrets of the shop.
const (
	secretCA     = "Secret tea-tls-ca"
	secretWeb    = "Secret tea-web-tls"
	secretWorker = "Secret tea-worker-tls"
	bundle       = "ConfigMap tea-tls-bundle"
)

// newHarness returns a harness in which a settled shop is reconciled each day.
func newHarness(t reconciletest.T, opts ...tls.Option) (*reconciletest.Harness, *recorder) {
	t.Helper()
	events := &recorder{}
	h := reconciletest.New(t, shop(opts...), reconciletest.With(reconcile.Period(24*time.Hour)), reconciletest.Events(events))
	return h, events
}

// recorder keeps events.
type recorder struct {
	mu     sync.Mutex
	events []event.Event
}

// Record implements event.Sink.
func (r *recorder) Record(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// notes returns the notes of the events with a reason.
func (r *recorder) notes(reason string) (notes []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes
}

// dataOf returns the data of a Secret.
func dataOf(t require.TestingT, secret *unstructured.Unstructured) map[string][]byte {
	content, _, err := unstructured.NestedStringMap(secret.Object, "data")
	require.NoError(t, err)
	data := map[string][]byte{}
	for key, value := range content {
		data[key], err = base64.StdEncoding.DecodeString(value)
		require.NoError(t, err)
	}
	return data
}

// certOf returns the certificate of a Secret.
func certOf(t require.TestingT, secret *unstructured.Unstructured) *x509.Certificate {
	block, _ := pem.Decode(dataOf(t, secret)["tls.crt"])
	require.NotNil(t, block)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return cert
}

// setData edits values of a Secret.
func setData(t *testing.T, h *reconciletest.Harness, secret string, values map[string][]byte) {
	t.Helper()
	h.Edit(secret, func(obj *unstructured.Unstructured) {
		for key, value := range values {
			if value == nil {
				unstructured.RemoveNestedField(obj.Object, "data", key)
				continue
			}
			require.NoError(t, unstructured.SetNestedField(obj.Object, base64.StdEncoding.EncodeToString(value), "data", key))
		}
	})
}

// annotate sets an annotation.
func annotate(h *reconciletest.Harness, object, key, value string) {
	h.Edit(object, func(obj *unstructured.Unstructured) {
		annotations := obj.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		obj.SetAnnotations(annotations)
	})
}

// program is a program with the files of a Secret.
type program struct {
	cert gotls.Certificate
	pool *x509.CertPool
}

// load returns a program that has read a Secret.
func load(t require.TestingT, secret *unstructured.Unstructured) *program {
	data := dataOf(t, secret)
	cert, err := gotls.X509KeyPair(data["tls.crt"], data["tls.key"])
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(data["ca.crt"]))
	return &program{cert, pool}
}

// handshake connects client to server by mutual TLS at a time.
func handshake(server, client *program, name string, now time.Time) error {
	serverEnd, clientEnd := net.Pipe()
	defer serverEnd.Close()
	defer clientEnd.Close()
	clock := func() time.Time { return now }
	accepted := make(chan error, 1)
	go func() {
		accepting := gotls.Server(serverEnd, &gotls.Config{Certificates: []gotls.Certificate{server.cert}, ClientCAs: server.pool,
			ClientAuth: gotls.RequireAndVerifyClientCert, Time: clock, MinVersion: gotls.VersionTLS13, SessionTicketsDisabled: true, CurvePreferences: []gotls.CurveID{gotls.X25519}})
		err := accepting.Handshake()
		if err != nil {
			_ = serverEnd.Close()
		}
		accepted <- err
	}()
	connecting := gotls.Client(clientEnd, &gotls.Config{Certificates: []gotls.Certificate{client.cert}, RootCAs: client.pool,
		ServerName: name, Time: clock, MinVersion: gotls.VersionTLS13, CurvePreferences: []gotls.CurveID{gotls.X25519}})
	err := connecting.Handshake()
	if err != nil {
		_ = clientEnd.Close()
	}
	return errors.Join(err, <-accepted)
}
