package index_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/operkit/operkit/reconcile/handlers/internal/index"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	claims = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Claim"}
	users  = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "User"}
)

type user struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Claim string `json:"claim"`
	} `json:"spec"`
}

// counter counts the users of a claim at each reconcile.
type counter struct {
	env   watch.Env
	users *index.Index[string, string]
	seen  *[]string
}

func (c counter) Sources() source.Sources {
	return source.Sources{Indexed: []source.Indexed{c.users.Source(c.env.Logger)}}
}

func (c counter) Reconcile(_ context.Context, req request.Request) (request.Result, error) {
	*c.seen = append(*c.seen, fmt.Sprint(c.users.Get(req.Key.Name)))
	return request.Result{}, nil
}

// Looks things up as handlers do.
func TestUnderEngine(t *testing.T) {
	t.Run("handlers 67: an index is complete before the first reconcile, also after a restart", testUnderEngine)
}

func testUnderEngine(t *testing.T) {
	table := index.New(index.Declaration[user, string, string]{Name: "users", Kind: users, Values: func(u *user) (map[string]string, error) {
		return map[string]string{u.Spec.Claim: u.Name}, nil
	}})
	var seen []string
	taken := func() []string { defer func() { seen = nil }(); return slices.Clone(seen) }
	h := reconciletest.Drive(t, watch.NewController(claims, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		table.Reset()
		return counter{env, table, &seen}, nil
	}))
	claim := func(size int) string {
		return fmt.Sprintf("{apiVersion: example.dev/v1, kind: Claim, metadata: {name: data}, spec: {size: %d}}", size)
	}
	uses := func(name, claim string) string {
		return fmt.Sprintf("{apiVersion: example.dev/v1, kind: User, metadata: {name: %s}, spec: {claim: %s}}", name, claim)
	}
	h.Apply(claim(1), uses("b", "data"), uses("a", "data"), uses("c", "other"))
	h.RunUntilSettled()
	assert.Equal(t, []string{"[a b]"}, taken(), "it is complete before the first reconcile")
	h.Edit("User b", func(obj *unstructured.Unstructured) { obj.Object["spec"].(map[string]any)["claim"] = "other" })
	h.Apply(uses("d", "data"))
	h.RunUntilSettled()
	assert.Empty(t, taken(), "its events bring nothing to reconcile")
	h.Delete("User a")
	h.Apply(claim(2))
	h.RunUntilSettled()
	assert.Equal(t, []string{"[d]"}, taken())
	h.Restart()
	h.RunUntilSettled()
	assert.Equal(t, []string{"[d]"}, taken(), "it is filled anew after a restart")
	assert.Equal(t, []string{"b", "c"}, table.Get("other"))
}
