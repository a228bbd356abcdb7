package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var huts = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Hut"}

// hut is a controller whose Setup is a function, and which counts the sessions that have ended.
type hut struct {
	setup    func(ctx context.Context, s *reconcile.Session) error
	release  func(s *reconcile.Session)
	mu       sync.Mutex
	released []string
}

func (*hut) Kind() schema.GroupVersionKind { return huts }

func (h *hut) Setup(ctx context.Context, s *reconcile.Session) error {
	s.Cleanup(func() { h.end(s) })
	if h.setup == nil {
		return nil
	}
	return h.setup(ctx, s)
}

func (h *hut) end(s *reconcile.Session) {
	h.mu.Lock()
	h.released = append(h.released, s.ID())
	h.mu.Unlock()
	if h.release != nil {
		h.release(s)
	}
}

func (h *hut) ended() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.released...)
}

// manager is the other side of a Serve.
type manager struct {
	*wire.Peer
	in, out io.Closer
	served  chan error
}

// served serves a controller to a manager that answers by handle.
func served(t *testing.T, ctx context.Context, h reconcile.Controller, handle wire.Handler, options ...Option) *manager {
	t.Helper()
	in, theirOut := io.Pipe()
	theirIn, out := io.Pipe()
	m := &manager{Peer: wire.NewPeer(in, out, handle), in: in, out: out, served: make(chan error, 1)}
	go func() {
		err := Serve(ctx, "1.1.0", []reconcile.Controller{h}, append(options, Streams(theirIn, theirOut))...)
		_ = theirOut.Close()
		m.served <- err
	}()
	ran := make(chan error, 1)
	go func() { ran <- m.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = out.Close()
		<-ran
	})
	return m
}

func (m *manager) hello(t *testing.T) (said wire.Declaration) {
	t.Helper()
	require.NoError(t, m.Call(t.Context(), wire.Hello, wire.Greeting{Protocol: wire.Protocol, Domain: "operkit.dev", FieldManager: "m"}, &said))
	return said
}

func hutSession(id string) wire.Session {
	return wire.Session{ID: id, Kind: wire.NewKind(huts), Resource: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Hut", "metadata": map[string]any{"name": "h", "namespace": "wood"},
	}}
}

func TestHello(t *testing.T) {
	t.Parallel()
	m := served(t, t.Context(), &hut{}, nil)
	require.ErrorContains(t, m.Call(t.Context(), wire.Setup, hutSession("a"), nil), "the manager hasn't called hello, which has to come first")
	require.ErrorContains(t, m.Call(t.Context(), wire.Hello, wire.Greeting{Protocol: 7}, nil), "the manager has protocol 7, and this version has protocol 1: update the older of the two")
	said := m.hello(t)
	assert.Equal(t, wire.Declaration{Protocol: wire.Protocol, Release: "1.1.0", Kinds: []wire.ControlledKind{{Kind: wire.NewKind(huts)}}}, said)
	require.ErrorContains(t, m.Call(t.Context(), wire.Hello, wire.Greeting{Protocol: wire.Protocol}, nil), "hello was called already")
	require.ErrorContains(t, m.Call(t.Context(), "bake", nil, nil), `unknown method "bake": the manager is newer than this version`)
	other := hutSession("a")
	other.Kind.Name = "Palace"
	require.ErrorContains(t, m.Call(t.Context(), wire.Setup, other, nil), "this version has no controller for the kind Palace")
	other = hutSession("a")
	other.Resource["kind"] = "Palace"
	require.ErrorContains(t, m.Call(t.Context(), wire.Setup, other, nil), "Palace wood/h: not of the kind Hut")
	for _, method := range []string{wire.Render, wire.Content, wire.Gate, wire.Judge} {
		require.ErrorContains(t, m.Call(t.Context(), method, wire.Part{Session: "nobody's"}, nil), "session nobody's: not found", method)
	}
	require.ErrorContains(t, m.Call(t.Context(), wire.Keys, wire.EventQuery{Kind: wire.NewKind(huts), Mapped: 1, New: map[string]any{}}, nil), "mapped source 1 of kind Hut: there are only 0")
	require.ErrorContains(t, m.Call(t.Context(), wire.Setup, nil, nil), "a *wire.Session is missing")
	broken := served(t, t.Context(), &hut{}, nil, With(func(reconcile.Controller, *deploy.Manager) ([]reconcile.Option, error) {
		return nil, errors.New("no options")
	}))
	require.ErrorContains(t, broken.Call(t.Context(), wire.Hello, wire.Greeting{Protocol: wire.Protocol, Domain: "operkit.dev", FieldManager: "m"}, nil), "no options")
}

// A session is there from its Setup on, be that an error, until it is released, and its controller is told once.
func TestSessions(t *testing.T) {
	t.Parallel()
	h := &hut{setup: func(_ context.Context, s *reconcile.Session) error {
		if s.ID() == "fails" {
			return errors.New("no")
		}
		s.Add("c", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "m"}})
		return nil
	}}
	m := served(t, t.Context(), h, nil)
	m.hello(t)
	var described wire.Described
	require.NoError(t, m.Call(t.Context(), wire.Setup, hutSession("well"), &described))
	require.Len(t, described.Components, 1)
	assert.Equal(t, "m", described.Components[0].Objects[0].Ref)
	require.ErrorContains(t, m.Call(t.Context(), wire.Setup, hutSession("fails"), nil), "setup: no")
	part := wire.Part{Session: "well", Component: "c", Object: described.Components[0].Objects[0].Name}
	var content map[string]any
	require.NoError(t, m.Call(t.Context(), wire.Content, part, &content))
	assert.Equal(t, "ConfigMap", content["kind"])
	part.Object = "another"
	require.ErrorContains(t, m.Call(t.Context(), wire.Content, part, &content), "object c.another: not found")
	part.Component = "d"
	require.ErrorContains(t, m.Call(t.Context(), wire.Render, part, nil), "component d: not found")
	require.ErrorContains(t, m.Call(t.Context(), wire.Hook, wire.HookCall{Session: "well", Hook: "BeforeAll"}, nil), "hook BeforeAll: unknown name")
	require.ErrorContains(t, m.Call(t.Context(), wire.Hook, wire.HookCall{Session: "well", Hook: wire.Requeue}, nil), "the controller has no such hook")
	for range 2 {
		for _, id := range []string{"well", "fails", "nobody's"} {
			require.NoError(t, m.Notify(wire.Release, id))
		}
	}
	require.Eventually(t, func() bool { return len(h.ended()) == 2 }, 10*time.Second, time.Millisecond)
	assert.ElementsMatch(t, []string{"well", "fails"}, h.ended())
	require.ErrorContains(t, m.Call(t.Context(), wire.Content, part, nil), "not found: it was released, or never set up")
	_ = m.out.Close()
	require.NoError(t, <-m.served)
	assert.Len(t, h.ended(), 2)
}

// A Setup that the manager gives up leaves no session, whatever comes first: its end or its release.
func TestSetupThatIsGivenUp(t *testing.T) {
	t.Parallel()
	begun := make(chan bool)
	h := &hut{setup: func(ctx context.Context, _ *reconcile.Session) error {
		begun <- true
		<-ctx.Done()
		return nil // as if it had been in time
	}}
	m := served(t, t.Context(), h, nil)
	m.hello(t)
	for i := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			cancel()
		}()
		id := fmt.Sprint("a", i)
		require.ErrorIs(t, m.Call(ctx, wire.Setup, hutSession(id), nil), context.Canceled)
		require.NoError(t, m.Notify(wire.Release, id))
	}
	require.Eventually(t, func() bool { return len(h.ended()) == 20 }, 10*time.Second, time.Millisecond)
	_ = m.out.Close()
	require.NoError(t, <-m.served)
	assert.Len(t, h.ended(), 20)
}

// A release that asks the manager doesn't keep that from answering, and one that never ends doesn't keep the process.
func TestReleaseThatTakesItsTime(t *testing.T) {
	t.Parallel()
	asked := make(chan bool, 1)
	stuck := make(chan bool)
	defer close(stuck)
	h := &hut{release: func(s *reconcile.Session) {
		_, _ = s.Get(context.Background(), deploy.Ref{Kind: huts, Name: "x"})
		asked <- true
		<-stuck
	}}
	m := served(t, t.Context(), h, func(_ context.Context, method string, _ wire.Raw) (any, error) { return wire.Found{}, nil })
	m.hello(t)
	require.NoError(t, m.Call(t.Context(), wire.Setup, hutSession("a"), nil))
	require.NoError(t, m.Notify(wire.Release, "a"))
	<-asked
	require.NoError(t, m.Call(t.Context(), wire.Setup, hutSession("b"), nil), "others go on")
	_ = m.out.Close()
	before := time.Now()
	require.NoError(t, <-m.served)
	assert.Less(t, time.Since(before), 10*time.Second)
}

// The end of its context ends Serve, and what is under way isn't answered: its manager is to try again.
func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan bool, 1)
	h := &hut{setup: func(ctx context.Context, _ *reconcile.Session) error {
		begun <- true
		<-ctx.Done()
		return ctx.Err()
	}}
	m := served(t, ctx, h, nil)
	m.hello(t)
	answered := make(chan error, 1)
	go func() { answered <- m.Call(t.Context(), wire.Setup, hutSession("a"), nil) }()
	<-begun
	cancel()
	require.NoError(t, <-m.served)
	require.ErrorIs(t, <-answered, wire.ErrGone)
	require.Eventually(t, func() bool { return len(h.ended()) == 1 }, 10*time.Second, time.Millisecond, "and is released")
}

// A manager that can't be understood is an error.
func TestServeWithoutAManager(t *testing.T) {
	t.Parallel()
	err := Serve(t.Context(), "", []reconcile.Controller{&hut{}}, Streams(bytes.NewReader([]byte{0, 0, 0, 9, 1}), io.Discard))
	require.ErrorContains(t, err, "serve: the stream ended in the middle of a message")
}

// The handler of logs keeps to the rules of log/slog, as far as texts do.
func TestLines(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	said := make(chan wire.Logged, 1)
	listener := wire.NewPeer(in, io.Discard, func(_ context.Context, _ string, body wire.Raw) (any, error) {
		var line wire.Logged
		err := wire.Decode(body, &line)
		said <- line
		return nil, err
	})
	silent, end := io.Pipe()
	speaker := wire.NewPeer(silent, out, nil)
	var running sync.WaitGroup
	running.Go(func() { _ = listener.Run(context.Background()) })
	running.Go(func() { _ = speaker.Run(context.Background()) })
	defer running.Wait()
	defer func() { _, _ = end.Close(), out.Close() }()

	slogtest.Run(t, func(t *testing.T) slog.Handler {
		return (&lines{peer: speaker, level: slog.LevelInfo}).of("s", slog.LevelInfo)
	}, func(t *testing.T) map[string]any {
		line := <-said
		assert.Equal(t, "s", line.Session)
		got := map[string]any{slog.LevelKey: slog.Level(line.Level), slog.MessageKey: line.Text}
		if line.Time != 0 {
			got[slog.TimeKey] = time.Unix(0, line.Time)
		}
		for i := 0; i < len(line.Attributes); i += 2 {
			nested(got, line.Attributes[i], line.Attributes[i+1])
		}
		return got
	})
	quiet := &lines{peer: speaker, level: slog.LevelWarn}
	assert.False(t, quiet.Enabled(t.Context(), slog.LevelInfo))
	assert.True(t, quiet.Enabled(t.Context(), slog.LevelWarn))
}

// nested puts a value where a key with dots says.
func nested(into map[string]any, key, value string) {
	for i, c := range key {
		if c == '.' {
			below, _ := into[key[:i]].(map[string]any)
			if below == nil {
				below = map[string]any{}
				into[key[:i]] = below
			}
			nested(below, key[i+1:], value)
			return
		}
	}
	into[key] = value
}
