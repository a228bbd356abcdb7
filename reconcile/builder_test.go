package reconcile

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// built is a Builder made of a function.
type built struct {
	build func(ctx context.Context, s *Session, c *Component) error
}

func (b *built) Build(ctx context.Context, s *Session, c *Component) error {
	if b.build == nil {
		return nil
	}
	return b.build(ctx, s, c)
}

// building is a Builder of objects with these names.
func building(names ...string) *built {
	return &built{func(_ context.Context, _ *Session, c *Component) error {
		for _, name := range names {
			c.Add(name, configMap(name))
		}
		return nil
	}}
}

// particular is a Builder with ways of its own, which it notes.
type particular struct {
	built
	note                    func(step string)
	deploy, verify, disable error
	revise                  func(object string, content *unstructured.Unstructured) error
}

func (p *particular) Deploy(ctx context.Context, _ *Session, c *Component) error {
	p.note("deploy " + c.Name())
	return errors.Join(c.Apply(ctx), p.deploy)
}

func (p *particular) Verify(ctx context.Context, _ *Session, c *Component) error {
	p.note("verify " + c.Name())
	return errors.Join(c.Verify(ctx), p.verify)
}

func (p *particular) Disable(ctx context.Context, _ *Session, c *Component) error {
	p.note("disable " + c.Name())
	return errors.Join(c.Remove(ctx), p.disable)
}

func (p *particular) Revise(_ context.Context, _ *Session, object string, content *unstructured.Unstructured) error {
	p.note("revise " + object)
	if p.revise == nil {
		return nil
	}
	return p.revise(object, content)
}

func TestBuilder(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 13: it is built once, when its turn has come", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		builds := 0
		calls := w.calm(w.reconciler(adding(func(s *Session) {
			first := s.Add("first", configMap("a"))
			s.Use("second", &built{func(ctx context.Context, s *Session, c *Component) error {
				builds++
				seen, err := s.Get(ctx, configMapRef("a"))
				if seen == nil {
					return errors.Join(errors.New("what it waits for isn't there"), err)
				}
				c.Add("copy", configMap("b"))
				return nil
			}}).After(first, Ready)
		})))
		assert.Equal(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/b", writeStatus}, calls)
		assert.Equal(t, 1, builds)
		assert.Equal(t, "Stable/Stable", w.verdict())
	})
	t.Run("reconcile 13: a render that fails leaves nothing that looks complete", func(t *testing.T) {
		t.Parallel()
		for reason, row := range map[string]struct {
			build   func(context.Context, *Session, *Component) error
			want    string
			verdict string
		}{
			"an error": {func(_ context.Context, _ *Session, c *Component) error {
				c.Add("a", configMap("a"))
				return errors.New("no template")
			}, "component c: build: no template", "Errored/Errored"},
			"waiting": {func(context.Context, *Session, *Component) error { return request.Precondition("no address yet") },
				"c: build: no address yet", "Initializing/PreconditionWait"},
			"a panic": {func(context.Context, *Session, *Component) error { panic("oh") }, "component c: build: panic: oh (builder_test.go)", "Errored/Errored"},
			"two objects of one name": {func(_ context.Context, _ *Session, c *Component) error {
				c.Add("a", configMap("a"))
				c.Add("a", configMap("b"))
				return nil
			}, "component c: object a: is added twice", "Errored/Errored"},
			"objects that wait for each other": {func(_ context.Context, _ *Session, c *Component) error {
				a, b := c.Add("a", configMap("a")), c.Add("b", configMap("b"))
				a.After(b)
				b.After(a)
				return nil
			}, "component c: its objects wait for each other: a -> b -> a", "Errored/Errored"},
			"what another component has": {func(_ context.Context, _ *Session, c *Component) error {
				c.Add("a", configMap("taken"))
				return nil
			}, "component c: ConfigMap taken is in component b already: remove it from one of them", "Errored/Errored"},
			"the same one twice": {func(_ context.Context, _ *Session, c *Component) error {
				c.Add("a", configMap("a"))
				c.Add("b", configMap("a"))
				return nil
			}, "component c: ConfigMap a was added twice", "Errored/Errored"},
		} {
			t.Run(reason, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				calls, _, err := w.once(w.reconciler(adding(func(s *Session) {
					s.Use("c", &built{row.build}).After(s.Add("b", configMap("taken")))
				})))
				assert.Equal(t, []string{"apply ConfigMap shop/taken", writeStatus}, calls, "of it nothing is applied, of others all")
				assert.Equal(t, row.verdict, w.verdict())
				assert.Equal(t, row.want, testlog.WithoutLines(w.message()))
				assert.Equal(t, row.verdict == "Errored/Errored", err != nil)
			})
		}
	})
	t.Run("reconcile 15: ways of its own, and the usual ones inside of them", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var steps []string
		way := &particular{built: *building("a"), note: func(step string) { steps = append(steps, step) }}
		disabled := false
		r := w.reconciler(adding(func(s *Session) {
			if c := s.Use("c", way); disabled {
				c.Disable()
			}
		}))
		assert.Equal(t, []string{"apply ConfigMap shop/a", writeStatus}, w.calm(r))
		assert.Equal(t, []string{"revise a", "deploy c", "verify c"}, steps)

		steps, way.verify = nil, request.Precondition("not warm yet")
		w.calm(r)
		assert.Equal(t, "c: not warm yet", w.message())
		way.verify, way.deploy = nil, errors.New("no power")
		_, _, err := w.once(r)
		require.EqualError(t, err, "component c: no power")
		way.deploy, disabled, steps = nil, true, nil
		assert.Equal(t, []string{"delete ConfigMap shop/a", writeStatus}, w.calm(r))
		assert.Equal(t, []string{"revise a", "disable c"}, steps, "reconcile mistake 1: once, and it isn't verified")
		assert.Nil(t, w.get(configMapRef("a")))
	})
	t.Run("reconcile 13: it has the last word on what is deployed", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		given := configMap("a")
		way := &particular{note: func(string) {}, revise: func(object string, content *unstructured.Unstructured) error {
			return unstructured.SetNestedField(content.Object, "by "+object, "data", "revised")
		}}
		way.build = func(_ context.Context, _ *Session, c *Component) error { c.Add("x", given); return nil }
		w.calm(w.reconciler(adding(func(s *Session) { s.Use("c", way) })))
		assert.Equal(t, map[string]any{"key": "value", "revised": "by x"}, w.get(configMapRef("a")).Object["data"])
		assert.Equal(t, configMap("a"), given, "what was added stays as it is")

		way.revise = func(string, *unstructured.Unstructured) error { return errors.New("not this one") }
		_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Use("c", way) })))
		require.EqualError(t, err, "component c: object x: revise: not this one")
	})
	t.Run("a gate asks its own way", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		way := &particular{built: *building("a"), note: func(string) {}, verify: request.Precondition("not warm yet")}
		r := w.reconciler(adding(func(s *Session) {
			s.Add("second", configMap("b")).After(s.Use("first", way), Ready)
			s.Add("third", configMap("c")).After(s.Add("zero"), Deployed)
		}))
		assert.Equal(t, []string{"apply ConfigMap shop/a", "apply ConfigMap shop/c", writeStatus}, sortedApplies(w.calm(r)))
		way.verify = nil
		assert.Equal(t, []string{"apply ConfigMap shop/b", writeStatus}, w.calm(r))
		way.verify = errors.New("burnt")
		_, _, err := w.once(r)
		require.EqualError(t, err, "component first: burnt", "who waits for it has done nothing wrong")
		assert.Equal(t, []any{map[string]any{"name": "second", "reason": "waits for first (its gate is closed)"}},
			w.status("componentStatus", "unstartedComponents"))
		for _, temporary := range []error{&deploy.UnavailableError{Err: errNo}, request.Passing(errNo)} {
			way.verify = temporary
			_, _, err = w.once(r)
			require.ErrorContains(t, err, "component second: gate on component first: ", "nothing is known of it")
		}
	})
}

type wrongDeploy struct{ built }

func (*wrongDeploy) Deploy(context.Context) error { return nil }

type pointerVerify struct{}

func (pointerVerify) Build(context.Context, *Session, *Component) error              { return nil }
func (*pointerVerify) Verify(context.Context, *Session, *Component) error            { return nil }
func (pointerVerify) Unrelated() (deploy, verify, disable, build, finalize struct{}) { return }

// A method with the right name that would be passed over is a mistake, and says what it must be.
func TestBuilderMistakes(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		builder Builder
		want    string
	}{
		"none":               {nil, "component c: nil builder"},
		"another signature":  {&wrongDeploy{}, "component c: *reconcile.wrongDeploy: its method Deploy is (context.Context) error: make it (context.Context, *reconcile.Session, *reconcile.Component) error"},
		"a pointer receiver": {pointerVerify{}, "component c: reconcile.pointerVerify: its method Verify has a pointer receiver: pass a *reconcile.pointerVerify"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			_, _, err := w.once(w.reconciler(adding(func(s *Session) { s.Use("c", row.builder) })))
			assert.EqualError(t, err, row.want)
		})
	}
	w := newWorld(t)
	w.calm(w.reconciler(adding(func(s *Session) { s.Use("c", &pointerVerify{}) })))
}

func sortedApplies(calls []string) []string {
	out := append([]string(nil), calls...)
	for i := range out {
		for j := i + 1; j < len(out) && out[j] != writeStatus; j++ {
			if out[j] < out[i] {
				out[i], out[j] = out[j], out[i]
			}
		}
	}
	return out
}

func TestObjectOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	calls := w.calm(w.reconciler(adding(func(s *Session) {
		c := s.Add("c")
		last := c.Add("last", configMap("1"))
		middle := c.Add("middle", configMap("2"))
		first := c.Add("first", configMap("3"))
		c.Add("free", configMap("4"))
		last.After(middle, first)
		middle.After(first)
		assert.Equal(t, "middle", middle.Name())
	})))
	assert.Equal(t, []string{"apply ConfigMap shop/3", "apply ConfigMap shop/2", "apply ConfigMap shop/1", "apply ConfigMap shop/4", writeStatus}, calls,
		"reconcile 11: dependencies first, otherwise as they were added")

	_, _, err := w.once(w.reconciler(adding(func(s *Session) {
		s.Add("c").Add("a", configMap("a")).After(s.Add("d").Add("b", configMap("b")))
	})))
	assert.EqualError(t, err, "component c: object a: waits for an object that isn't of its component: let the component wait (Component.After)")
}

func TestReadyWhen(t *testing.T) {
	t.Parallel()
	t.Run("reconcile 16: an object that is judged in a way of its own", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var verdict error
		r := w.reconciler(adding(func(s *Session) {
			s.Add("c").Add("phase", configMap("a"), ReadyWhen(func(_ context.Context, live *unstructured.Unstructured) error {
				assert.Equal(t, "a", live.GetName())
				return verdict
			}))
		}))
		for _, row := range []struct {
			says    error
			message string
			failed  bool
		}{
			{request.Precondition("phase is Pending"), "c: ConfigMap a: phase is Pending", false},
			{errors.New("phase is Broken"), "component c: ConfigMap a: phase is Broken", true},
			{nil, "Rollout Complete", false},
		} {
			verdict = row.says
			_, _, err := w.once(r)
			assert.Equal(t, row.failed, err != nil)
			assert.Equal(t, row.message, w.message(), fmt.Sprint("reconcile 16: ", row.says))
		}
	})
}
