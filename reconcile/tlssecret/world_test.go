package tlssecret_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/tlssecret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	day  = 24 * time.Hour
	year = 365 * day
	host = "hooks.shop.svc"
)

var secret = deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "shop", Name: "hooks-tls"}

func newMemory(t *testing.T) *dryrun.Cluster {
	t.Helper()
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	require.NoError(t, err)
	return memory
}

// wire is the cluster as one replica reaches it.
type wire struct {
	deploy.Port
	view deploy.View
	mu   sync.Mutex
	// refuse refuses calls by their verb.
	refuse map[string]error
	// blind: events don't come, and the view shows what was last seen.
	blind bool
	shown *unstructured.Unstructured
	calls []string
	// before, if not nil, is called before a write.
	before func()
}

func (w *wire) set(change func(w *wire)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

func (w *wire) call(verb string, dry bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if dry {
		verb = "dry " + verb
	}
	w.calls = append(w.calls, verb)
	if err := w.refuse["*"]; err != nil {
		return err
	}
	return w.refuse[verb]
}

// taken returns the calls since it was called last.
func (w *wire) taken() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

func (w *wire) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := w.call("get", false); err != nil {
		return nil, err
	}
	return w.Port.Get(ctx, ref)
}

func (w *wire) Create(ctx context.Context, obj *unstructured.Unstructured, o deploy.CreateOptions) (*unstructured.Unstructured, error) {
	if err := w.call("create", o.DryRun); err != nil {
		return nil, err
	}
	w.meet()
	return w.Port.Create(ctx, obj, o)
}

func (w *wire) Update(ctx context.Context, obj *unstructured.Unstructured, o deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	if err := w.call("update", o.DryRun); err != nil {
		return nil, err
	}
	w.meet()
	return w.Port.Update(ctx, obj, o)
}

func (w *wire) meet() {
	if w.before != nil {
		w.before()
	}
}

// seeing is the View of a wire.
type seeing struct {
	deploy.View
	*wire
}

func (s seeing) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	blind, shown := s.blind, s.shown
	s.mu.Unlock()
	if blind {
		return shown, nil
	}
	return s.View.Get(ctx, ref)
}

func (s seeing) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	s.mu.Lock()
	err := s.refuse["watch"]
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.View.Subscribe(ctx, kind, func(e deploy.Event) {
		s.mu.Lock()
		blind := s.blind
		s.mu.Unlock()
		if !blind {
			handle(e)
		}
	})
}

type wired struct{ *wire }

func (w wired) Port() deploy.Port { return w.wire }
func (w wired) View() deploy.View { return seeing{w.view, w.wire} }

// replica is a process.
type replica struct {
	*tlssecret.Source
	*wire
	log     testlog.Text
	changed int
	stop    func()
}

// join makes a replica that isn't started.
func join(t *testing.T, memory deploy.Cluster, options ...func(*tlssecret.Config)) *replica {
	t.Helper()
	r := &replica{wire: &wire{Port: memory.Port(), view: memory.View(), refuse: map[string]error{}}}
	c := tlssecret.Config{Namespace: "shop", Secret: "hooks-tls", Names: []string{host}, Logger: slog.New(slog.NewTextHandler(&r.log, nil))}
	c.Changed = func() { r.changed++ }
	for _, option := range options {
		option(&c)
	}
	var err error
	r.Source, err = tlssecret.New(wired{r.wire}, c)
	require.NoError(t, err)
	return r
}

// start makes a replica that runs until the end of the test.
func start(t *testing.T, memory deploy.Cluster, options ...func(*tlssecret.Config)) *replica {
	t.Helper()
	r := join(t, memory, options...)
	r.run(t)
	return r
}

func (r *replica) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		assert.NoError(t, r.Run(ctx))
	}()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
}

func names(all ...string) func(*tlssecret.Config) { return func(c *tlssecret.Config) { c.Names = all } }

// chain returns what a server sends.
func (r *replica) chain(t *testing.T) []*x509.Certificate {
	t.Helper()
	served, err := r.Server().GetCertificate(nil)
	require.NoError(t, err, r.log.String())
	var chain []*x509.Certificate
	for _, raw := range served.Certificate {
		one, err := x509.ParseCertificate(raw)
		require.NoError(t, err)
		chain = append(chain, one)
	}
	return chain
}

// accepts returns why a client with a bundle doesn't accept a server.
func accepts(bundle []byte, chain []*x509.Certificate, name string, now time.Time) error {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("the bundle is empty")
	}
	for _, one := range chain[1:] {
		intermediates.AddCert(one)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, DNSName: name, CurrentTime: now})
	return err
}

// works asserts that a client of one replica accepts each of them, and that all agree.
func works(t *testing.T, replicas ...*replica) {
	t.Helper()
	for _, r := range replicas {
		require.NoError(t, r.Check())
		require.NoError(t, accepts(replicas[0].CA(), r.chain(t), host, time.Now()))
		assert.Equal(t, replicas[0].CA(), r.CA())
		assert.True(t, replicas[0].chain(t)[0].Equal(r.chain(t)[0]), "one certificate")
	}
}

// serial identifies the certificate that is served.
func (r *replica) serial(t *testing.T) string {
	t.Helper()
	return r.chain(t)[0].SerialNumber.String()
}

// read returns the Secret, nil if there is none.
func read(t *testing.T, memory deploy.Cluster) *unstructured.Unstructured {
	t.Helper()
	obj, err := memory.Port().Get(t.Context(), secret)
	require.NoError(t, err)
	return obj
}

// edit changes the Secret by hand.
func edit(t *testing.T, memory deploy.Cluster, change func(obj *unstructured.Unstructured, data map[string]any)) {
	t.Helper()
	obj := read(t, memory)
	data, _ := obj.Object["data"].(map[string]any)
	change(obj, data)
	obj.SetManagedFields(nil)
	_, err := memory.Port().Update(t.Context(), obj, deploy.UpdateOptions{FieldManager: "kubectl"})
	require.NoError(t, err)
}

func encode(text []byte) string { return base64.StdEncoding.EncodeToString(text) }

func annotate(t *testing.T, memory deploy.Cluster, key, value string) {
	t.Helper()
	edit(t, memory, func(obj *unstructured.Unstructured, _ map[string]any) {
		annotations := obj.GetAnnotations()
		annotations["operkit.dev/"+key] = value
		obj.SetAnnotations(annotations)
	})
}

func remove(t *testing.T, memory deploy.Cluster) {
	t.Helper()
	require.NoError(t, memory.Port().Delete(t.Context(), secret, deploy.DeleteOptions{}))
}

// inBubble runs a test with a fake clock.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}
