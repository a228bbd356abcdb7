package versions_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// object is an object as a version tells of it.
func object(name string) wire.Object { return wire.Object{Name: name, Ref: name, Digest: 7} }

// described is a session of one component, as a version tells of it.
func described(objects ...wire.Object) wire.Described {
	return wire.Described{Instance: "i", Kinds: []wire.Kind{wire.NewKind(configMaps)}, Components: []wire.Component{{Name: "c", Objects: objects}}}
}

// misdeeds are versions that don't keep to what PROTOCOL.md says, by their names; each answers a call of its manager.
var misdeeds = map[string]struct {
	does  wire.Handler
	wrong string
}{
	"no-description": {func(context.Context, string, wire.Raw) (any, error) { return nil, nil }, "setup: its answer: a *wire.Described is missing"},
	"empty":          {answering(wire.Described{}), "version empty: its answer has no instance"},
	"text":           {func(context.Context, string, wire.Raw) (any, error) { return "hello", nil }, "setup: its answer: "},
	"unknown-kind":   {answering(described(wire.Object{Name: "o", Ref: "o", Kind: 9})), "object o: has no kind"},
	"negative-kind":  {answering(described(wire.Object{Name: "o", Ref: "o", Kind: -1})), "object o: has no kind"},
	"unnamed":        {answering(described(wire.Object{Name: "o"})), "a deferred object needs a kind, a name, a digest and a content"},
	"twice":          {answering(described(object("o"), object("o"))), "object o: is added twice"},
	"no-object":      {answering(described(wire.Object{Name: "o", Content: map[string]any{"a": "b"}})), "has no apiVersion and kind"},
	"other-content":  {contented(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "other"}}), "its deferred content is another object, ConfigMap other"},
	"no-content":     {contented(nil), "its deferred content is nil"},
	"wrong-content":  {contented(map[string]any{"metadata": "none"}), "its deferred content is another object"},
	"strange-content": {func(_ context.Context, method string, _ wire.Raw) (any, error) {
		return [...]any{described(object("o")), "text"}[min(len(method)-5, 1)], nil
	}, "content: its answer: "},
	"lonely": {answering(wire.Described{Instance: "i", Components: []wire.Component{{Name: "c", After: []wire.Edge{{Upstream: "nobody"}}}}}),
		"component c waits for component nobody, which the version's answer doesn't contain"},
	"circle": {answering(wire.Described{Instance: "i", Components: []wire.Component{
		{Name: "a", After: []wire.Edge{{Upstream: "b"}}}, {Name: "b", After: []wire.Edge{{Upstream: "a"}}},
	}}), "component b"},
	"nameless": {answering(wire.Described{Instance: "i", Components: []wire.Component{{}, {}}}), "a component has no name"},
	"own-kind": {answering(wire.Described{Instance: "i", Components: []wire.Component{{Name: "c", Problem: &wire.Problem{Text: "x", Class: "weather"}}}}), "component c: x"},
	"exits":    {func(context.Context, string, wire.Raw) (any, error) { os.Exit(0); return nil, nil }, "its process has ended"},
	"prints": {func(context.Context, string, wire.Raw) (any, error) {
		_, _ = os.Stdout.WriteString("plain text")
		select {}
	}, "invalid data on the standard output of its process"},
	"half": {func(context.Context, string, wire.Raw) (any, error) {
		_, _ = os.Stdout.WriteString("\x00\x00\x10\x00\x85\x02")
		os.Exit(0)
		return nil, nil
	}, "its process has ended"},
	"closes":       {func(context.Context, string, wire.Raw) (any, error) { _ = os.Stdout.Close(); select {} }, "its process has ended: signal: killed"},
	"closes-input": {func(context.Context, string, wire.Raw) (any, error) { _ = os.Stdin.Close(); return described(), nil }, ""},
}

func answering(value any) wire.Handler {
	return func(context.Context, string, wire.Raw) (any, error) { return value, nil }
}

// contented tells of one object, whose content is another one.
func contented(content map[string]any) wire.Handler {
	return func(_ context.Context, method string, _ wire.Raw) (any, error) {
		if method == wire.Setup {
			return described(object("o")), nil
		}
		return content, nil
	}
}

// requests are what a version asks for that it may not, and what it is told.
var requests = map[string]struct {
	method string
	body   any
	wrong  string
}{
	"of-no-session":      {wire.Get, wire.Read{}, "read outside of a session"},
	"of-another-session": {wire.Get, wire.Read{Session: "somebody else's"}, "read outside of a session"},
	"of-no-kind":         {"", nil, `unknown method ""`},
	"of-nothing":         {wire.Get, nil, "a *wire.Read is missing"},
	"of-text":            {wire.Get, "hello", "wire.Read"},
	"of-a-selector":      {wire.List, wire.Read{Session: "own", Labels: "!!"}, "unable to parse requirement"},
	"of-a-field":         {wire.List, wire.Read{Session: "own", Live: true, Fields: "a"}, "invalid selector"},
	"to-delete-nothing":  {wire.Delete, wire.Read{Session: "own"}, ""},
}

func init() {
	programs["misdeeds"] = func(_ context.Context, version string) error {
		return said(labDeclaration, misdeeds[version].does)
	}
	programs["requests"] = func(_ context.Context, version string) error {
		var peer *wire.Peer
		peer = wire.NewPeer(os.Stdin, os.Stdout, func(ctx context.Context, method string, body wire.Raw) (any, error) {
			var s wire.Session
			if method == wire.Hello {
				return labDeclaration, nil
			}
			if err := wire.Decode(body, &s); err != nil {
				return nil, err
			}
			for _, method := range []string{wire.Log, wire.Event, wire.Bring, wire.Failed, "weather"} { // what is no use is no harm
				for _, body := range []any{nil, "text", int64(7), wire.Logged{Session: "none", Attributes: []string{"one"}}, wire.Recorded{}, wire.SourceReport{}} {
					_ = peer.Notify(method, body)
				}
			}
			row := requests[version]
			if read, ok := row.body.(wire.Read); ok && read.Session == "own" {
				read.Session = s.ID
				row.body = read
			}
			err := peer.Call(ctx, row.method, row.body, nil)
			if err == nil {
				err = errors.New("it was allowed")
			}
			return nil, err
		})
		if err := peer.Run(context.Background()); !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	}
}

// A version that doesn't keep to the protocol is an error of the resources that want it. Others, and the manager, have
// nothing of it; and nothing that is in the cluster is harmed.
func TestMisdeeds(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range misdeeds {
		names = append(names, name)
	}
	options := folder(t, "misdeeds", names...)
	options.StopTimeout, options.Limit = 100_000_000, len(names)
	pool := start(t, options)
	w := newWorld(t, pool.Controllers()[0])
	for name, row := range misdeeds {
		t.Run(name, func(t *testing.T) {
			w.put(t, lab(name, map[string]any{"version": name}))
			before := w.get(t, labs, name)
			keep := configMap(name+"-kept", nil)
			keep.SetOwnerReferences(ownedBy(before))
			w.put(t, keep)
			_, err := w.reconcile(t.Context(), name)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
			}
			assert.NotNil(t, w.get(t, configMaps, name+"-kept"), "what the resource owns stays")
		})
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	var names []string
	for name := range requests {
		names = append(names, name)
	}
	options := folder(t, "requests", names...)
	options.Limit = len(names)
	pool := start(t, options)
	for name, row := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, pool.Controllers()[0])
			w.put(t, lab("l", map[string]any{"version": name}))
			_, err := w.reconcile(t.Context(), "l")
			require.Error(t, err)
			require.ErrorContains(t, err, row.wrong)
			assert.NotContains(t, err.Error(), "it was allowed")
			assert.NotContains(t, err.Error(), "panic")
			assert.NotNil(t, w.get(t, labs, "l"))
			assert.Zero(t, of(t, pool, name).InUse)
			assert.True(t, of(t, pool, name).Running, "that is no reason to end it")
		})
	}
}
