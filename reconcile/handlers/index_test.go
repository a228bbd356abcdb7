package handlers_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// ConfigMap has what the indexes of the tests need.
type ConfigMap struct {
	metav1.ObjectMeta `json:"metadata"`
	Data              map[string]string `json:"data"`
}

// usersOf returns the names of ConfigMaps by the claim that they use.
func usersOf(c *ConfigMap) (map[string]string, error) {
	if c.Data["claim"] == "" {
		return nil, nil
	}
	return map[string]string{c.Data["claim"]: c.Name}, nil
}

func configMap(name, claim string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", labels: {used: 'yes'}}, data: {claim: " + claim + "}}"
}

func TestIndex(t *testing.T) {
	t.Run("handlers 67: it is complete before the first handler, and after a restart", func(t *testing.T) {
		var seen []string
		c := handlers.New[Claim](claims)
		users := handlers.NewIndex(c, "users", configMaps, usersOf, handlers.Label("used", handlers.Present))
		c.On(handlers.Create|handlers.Resume, "count", func(_ context.Context, r *handlers.Request[Claim]) error {
			seen = append(seen, users.Get(r.Object.Name)...)
			return nil
		})
		h := drive(t, c)
		h.Apply(small, configMap("b", "small"), configMap("a", "small"), configMap("c", "other"))
		h.RunUntilSettled()
		assert.Equal(t, []string{"a", "b"}, seen)
		h.Delete("ConfigMap a")
		seen = nil
		h.Restart()
		h.RunUntilSettled()
		assert.Equal(t, []string{"b"}, seen)
		assert.ElementsMatch(t, []string{"small", "other"}, users.Keys())
	})
	t.Run("handlers 66: mistakes are reported with the others", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		handlers.NewIndex(c, "users", schema.GroupVersionKind{}, usersOf, handlers.MaxAttempts(3))
		c.Seen("all", func(context.Context, *handlers.Request[Claim]) error { return nil }, handlers.DropFailed())
		_, err := c.Reconciler(t.Context(), newEnv(t))
		assert.ErrorContains(t, err, `index "users": kind "/, Kind=": needs a version and a kind`)
		assert.ErrorContains(t, err, `index "users": an index calls no handler`)
		assert.ErrorContains(t, err, `handler "all": drop failed: only for an index`)
	})
}

// An index tells which ConfigMaps use a claim, without a request.
func ExampleNewIndex() {
	c := handlers.New[Claim](claims)
	users := handlers.NewIndex(c, "users", configMaps, usersOf, handlers.DropFailed())
	c.On(handlers.Create, "count", func(_ context.Context, r *handlers.Request[Claim]) error {
		fmt.Println(users.Get(r.Object.Name), users.Keys())
		for ref, user := range users.Objects(r.Object.Name) {
			fmt.Println(ref, user)
		}
		return nil
	})
	h := reconciletest.Drive(console{}, c)
	h.Apply(small, configMap("web", "small"))
	h.RunUntilSettled()
	// Output:
	// [web] [small]
	// ConfigMap test/web web
}
