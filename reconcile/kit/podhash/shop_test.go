package podhash_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var shops = schema.GroupVersionKind{Group: "podhash.example.dev", Version: "v1", Kind: "Shop"}

const shop = `
apiVersion: podhash.example.dev/v1
kind: Shop
metadata: {name: tea}
spec: {password: first-password}`

// podSpec returns a Pod spec whose containers read these Secrets as variables.
func podSpec(secrets ...string) fields {
	from := list{}
	for _, name := range secrets {
		from = append(from, fields{"secretRef": fields{"name": name}})
	}
	return fields{"containers": list{fields{"name": "web", "image": "web", "envFrom": from}}}
}

// workload returns a Deployment whose Pods read Secrets.
func workload(secrets ...string) fields {
	labels := fields{"app": "web"}
	return fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": "web"}, "spec": fields{
		"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels}, "spec": podSpec(secrets...)},
	}}
}

// password returns the Secret of a shop.
func password(s *reconcile.Session) fields {
	value, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "password")
	return fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "own"}, "stringData": fields{"password": value}}
}

// keeping is a Builder of the Secret of a shop.
type keeping struct{}

func (keeping) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	c.Add("password", password(s))
	return nil
}

// setups are the places where a Secret may be, seen from the Pods.
var setups = map[string]func(s *reconcile.Session){
	"the same component": func(s *reconcile.Session) { s.Add("web", workload("own", "foreign"), password(s)) },
	"another component, which comes later": func(s *reconcile.Session) {
		s.Add("web", workload("own", "foreign"))
		s.Add("secrets", password(s))
	},
	"a Builder that is waited for": func(s *reconcile.Session) {
		s.Add("web", workload("own", "foreign")).After(s.Use("secrets", keeping{}))
	},
}

func harness(t *testing.T, setup func(s *reconcile.Session), options ...reconciletest.Option) *reconciletest.Harness {
	t.Helper()
	controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error { setup(s); return nil })
	return reconciletest.New(t, controller, append([]reconciletest.Option{reconciletest.With(podhash.Components())}, options...)...)
}

// change changes the password of a shop.
func change(t *testing.T, h *reconciletest.Harness, value string) {
	t.Helper()
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, value, "spec", "password"))
	})
}

// foreign puts a Secret of somebody else into the cluster.
func foreign(h *reconciletest.Harness, value string) {
	h.Apply(fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "foreign"}, "stringData": fields{"token": value}})
}

// writesOf returns how many writes to a kind the latest run took.
func writesOf(h *reconciletest.Harness, kind string) (n int) {
	for _, call := range h.Calls() {
		if call.Write() && call.Ref.Kind.Kind == kind {
			n++
		}
	}
	return n
}

func hashIn(h *reconciletest.Harness, object string) string {
	return templateAnnotation(h.Get(object), hashKey)
}

func TestSecretsOfTheSession(t *testing.T) {
	t.Parallel()
	for place, setup := range setups {
		t.Run("podhash 7: a Secret of "+place, func(t *testing.T) {
			t.Parallel()
			h := harness(t, setup)
			foreign(h, "one")
			h.Apply(shop)
			h.RunUntilSettled()
			h.Ready("Shop tea")
			first := hashIn(h, "Deployment web")
			assert.Len(t, first, 64)
			assert.Equal(t, 1, writesOf(h, "Deployment"), "it is created with the final hash")

			h.RunUntilSettled()
			assert.Empty(t, h.Calls(), "podhash 15: a settled resource costs nothing")
			h.Restart()
			h.RunUntilSettled()
			h.Writes(0)

			change(t, h, "second-password")
			h.RunUntilSettled()
			h.Configured("Secret own", "Deployment web")
			assert.Equal(t, 1, writesOf(h, "Deployment"), "podhash 15: a change rolls the Pods once")
			assert.NotEqual(t, first, hashIn(h, "Deployment web"))

			change(t, h, "first-password")
			h.RunUntilSettled()
			assert.Equal(t, first, hashIn(h, "Deployment web"), "the same content has the same hash")
		})
	}
}

func TestSecretsOfOthers(t *testing.T) {
	t.Parallel()
	for place, setup := range setups {
		t.Run("podhash 7: a Secret of somebody else is followed, beside one of "+place, func(t *testing.T) {
			t.Parallel()
			h := harness(t, setup)
			h.Apply(shop)
			h.RunUntilSettled()
			without := hashIn(h, "Deployment web")
			assert.Len(t, without, 64, "podhash 8: without the one that isn't there")

			foreign(h, "one")
			h.RunUntilSettled()
			h.Configured("Deployment web")
			assert.Equal(t, 1, writesOf(h, "Deployment"))
			with := hashIn(h, "Deployment web")
			assert.NotEqual(t, without, with, "podhash 8: it counts when it appears")

			h.Edit("Secret foreign", func(obj *unstructured.Unstructured) { obj.SetLabels(map[string]string{"a": "b"}) })
			h.RunUntilSettled()
			h.Writes(0)

			foreign(h, "two")
			h.RunUntilSettled()
			h.Configured("Deployment web")
			assert.Equal(t, 1, writesOf(h, "Deployment"))
			assert.NotEqual(t, with, hashIn(h, "Deployment web"))

			h.Delete("Secret foreign")
			h.RunUntilSettled()
			assert.Equal(t, without, hashIn(h, "Deployment web"))
		})
	}
}

// A Secret of a Builder that the Pods don't wait for is read as it is in the cluster, and once more afterwards.
func TestSecretThatIsWrittenLater(t *testing.T) {
	t.Parallel()
	t.Run("podhash 7: a change after the Pods were made is seen", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(s *reconcile.Session) {
			s.Add("web", workload("own"))
			s.Use("z-secrets", keeping{})
		}, reconciletest.With(reconcile.Concurrency(0)))
		h.Apply(shop)
		h.RunUntilSettled()
		first := hashIn(h, "Deployment web")
		assert.Len(t, first, 64)
		change(t, h, "second-password")
		h.RunUntilSettled()
		assert.NotEqual(t, first, hashIn(h, "Deployment web"))
	})
}

func TestOrderOfComponents(t *testing.T) {
	t.Parallel()
	t.Run("podhash 15: Pods roll in the order of the components, and readiness waits for them", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(s *reconcile.Session) {
			first, second := workload("own"), workload("own")
			first["metadata"], second["metadata"] = fields{"name": "first"}, fields{"name": "second"}
			db := s.Add("db", password(s), first)
			s.Add("web", second).After(db, reconcile.Ready)
		})
		h.Apply(shop)
		h.RunUntilSettled()
		before := hashIn(h, "Deployment second")
		h.Hold("Deployment first")
		change(t, h, "second-password")
		h.RunUntilSettled()
		h.Configured("Secret own", "Deployment first")
		assert.Equal(t, before, hashIn(h, "Deployment second"))
		assert.Equal(t, "False", string(h.Condition("Shop tea", "Ready").Status))
		h.Release("Deployment first")
		h.RunUntilSettled()
		h.Configured("Deployment second")
		h.Ready("Shop tea")
	})
}

func TestJobOfASession(t *testing.T) {
	t.Parallel()
	t.Run("podhash 13: a Job that has run isn't touched by a new password", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(s *reconcile.Session) {
			s.Add("job", password(s), fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"name": "migrate"},
				"spec": fields{"template": fields{"spec": podSpec("own")}}})
		})
		h.Apply(shop)
		h.RunUntilSettled()
		first := hashIn(h, "Job migrate")
		assert.Len(t, first, 64)
		change(t, h, "second-password")
		h.RunUntilSettled()
		assert.Zero(t, writesOf(h, "Job"))
		assert.Equal(t, first, hashIn(h, "Job migrate"))
	})
}

func TestRendered(t *testing.T) {
	t.Parallel()
	for place, setup := range setups {
		t.Run("podhash 16: what is rendered has the hash that is applied, with a Secret of "+place, func(t *testing.T) {
			t.Parallel()
			h := harness(t, setup)
			foreign(h, "one")
			h.Apply(shop)
			h.RunUntilSettled()
			rendered := ""
			for _, component := range h.Render("Shop tea") {
				for _, obj := range component.Objects {
					if obj.GetKind() == "Deployment" {
						rendered = templateAnnotation(obj, hashKey)
					}
				}
			}
			assert.Equal(t, hashIn(h, "Deployment web"), rendered)
		})
	}
}

func TestOper8InASession(t *testing.T) {
	t.Parallel()
	t.Run("podhash 17: the Secret of another component counts as it is stored, in stringData or not", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(s *reconcile.Session) {
			web := workload()
			web["spec"].(fields)["template"].(fields)["spec"].(fields)["volumes"] = list{
				fields{"name": "own", "secret": fields{"secretName": "own"}}, fields{"name": "foreign", "secret": fields{"secretName": "foreign"}}}
			s.Add("web", web)
			s.Add("secrets", password(s))
		}, reconciletest.With(podhash.Components(podhash.Oper8())))
		h.Apply(shop)
		h.RunUntilSettled()
		// sha1("{}" + "Secretown" + '{"password": "Zmlyc3QtcGFzc3dvcmQ="}'): the foreign one isn't there
		assert.Equal(t, "2be337a7226b7a7c03058e0c9c553292c5646d0b", templateAnnotation(h.Get("Deployment web"), "oper8.org/dependency-hash"))
	})
}
