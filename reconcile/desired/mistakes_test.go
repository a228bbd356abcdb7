package desired_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// envOf returns an Env for a cluster.
func envOf(t *testing.T, cluster deploy.Cluster, opts ...deploy.Option) watch.Env {
	t.Helper()
	manager, err := deploy.NewManager(cluster, opts...)
	require.NoError(t, err)
	return watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}

func memory(t *testing.T) *dryrun.Cluster {
	t.Helper()
	cluster, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	return cluster
}

// badFinalizer has a Finalize with another signature.
type badFinalizer struct{ script }

func (badFinalizer) Finalize() error { return nil }

// shapeless is a type that objects can't be converted to.
type shapeless struct{ C chan int }

func TestMistakes(t *testing.T) {
	t.Parallel()
	inPlace := func(kind schema.GroupVersionKind, opts ...desired.ChildOption) desired.Option {
		return desired.Child(kind, desired.InPlace, opts...)
	}
	for _, row := range []struct {
		reason     string
		controller watch.Controller
		want       []string
	}{
		{"desired 25: nothing is wrong", desired.New(catSets, script{}, nil, inPlace(pods, nil)), nil},
		{"desired 25: no kind", desired.New(schema.GroupVersionKind{Kind: "A"}, script{}), []string{"needs a version and a kind"}},
		{"desired 25: no syncer", desired.New[desired.Unstructured](catSets, nil), []string{"nil syncer"}},
		{"desired 25: a type that can't hold objects", desired.New(catSets, desired.Funcs[shapeless]{}), []string{"shapeless"}},
		{"desired 25: a method with another signature", desired.New(catSets, badFinalizer{}), []string{"its method Finalize is () error"}},
		{
			"desired 25: all at once", desired.New(catSets, script{}, desired.FinalizerName("no name"), desired.Child(pods, "Guess"),
				inPlace(pods), inPlace(catSets), inPlace(schema.GroupVersionKind{}), inPlace(configMaps, desired.Healthy("Ready", "True")),
				desired.Child(secrets, desired.RollingInPlace, desired.Healthy("", metav1.ConditionTrue))),
			[]string{
				`finalizer "no name"`, `child Pod: unknown strategy "Guess"`, "child Pod: declared twice", "it is the kind of the parents",
				"needs a version and a kind", "child ConfigMap: healthy: nobody waits", "child Secret: healthy: needs the type of a condition",
			},
		},
		{
			"desired 97: an expectation that can't be", desired.New(catSets, script{}, desired.ReadyBy(expecting(""))),
			[]string{"readiness: "},
		},
		{"desired 75: a finalizer without a domain, as roperator has it", desired.New(catSets, teardown{}, desired.FinalizerName("cats")), nil},
		{
			"desired 75: which built-in kinds don't accept", desired.New(pods, teardown{}, desired.FinalizerName("cats")),
			[]string{`finalizer "cats": built-in kinds accept only finalizers with a domain`},
		},
		{
			"desired 75: an empty name is none", desired.New(catSets, teardown{}, desired.FinalizerName("")),
			[]string{`finalizer "": name part must be non-empty`},
		},
		{
			"desired 25: an option that has no effect", desired.New(catSets, script{}, inPlace(pods, desired.Deletable())),
			[]string{"child Pod: deletable: its children are deleted anyway"},
		},
		{
			"desired 25: revisions of nothing", desired.New(catSets, script{}, inPlace(pods), inPlace(controllerRevisions), desired.Revisions("spec..template")),
			[]string{"no kind of children is rolled", `path "spec..template": isn't a path of fields`, "Revisions keeps its own objects of this kind"},
		},
		{"desired 25: options that have one", desired.New(catSets, teardown{}, desired.FinalizerName("example.dev/cats"), inPlace(claims, desired.Deletable())), nil},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := row.controller.Reconciler(t.Context(), envOf(t, memory(t)))
			if row.want == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, want := range row.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
	t.Run("desired 25: a name of the operator that makes no finalizer", func(t *testing.T) {
		t.Parallel()
		env := envOf(t, memory(t), deploy.FieldManager("my operator"))
		_, err := desired.New(catSets, script{}).Reconciler(t.Context(), env)
		require.ErrorContains(t, err, "set one by the option FinalizerName")
		_, err = desired.New(catSets, teardown{}, desired.FinalizerName("example.dev/cats")).Reconciler(t.Context(), env)
		require.NoError(t, err)
	})
}

// partial is a cluster of which only the metadata of a kind is held.
type partial struct {
	*dryrun.Cluster
	kind schema.GroupVersionKind
}

func (p partial) View() deploy.View { return partialView{p.Cluster.View(), p.kind} }

type partialView struct {
	deploy.View
	kind schema.GroupVersionKind
}

// Partial implements deploy.PartialView.
func (v partialView) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	obj, err := v.Get(ctx, ref)
	return obj, ref.Kind != v.kind, err
}

func TestWhole(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		kind   schema.GroupVersionKind
		want   string
	}{
		{"desired 26: children that are held as metadata are refused", configMaps, "only the metadata of the objects of ConfigMap is held"},
		{"desired 26: and parents, too", catSets, "only the metadata of the objects of CatSet is held"},
		{"desired 26: other kinds don't matter", pods, ""},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			cluster := memory(t)
			p := parent(configMap("a"))
			p.SetNamespace("test")
			_, err := cluster.Port().Create(t.Context(), p, deploy.CreateOptions{})
			require.NoError(t, err)
			env := envOf(t, partial{cluster, row.kind})
			reconciler, err := desired.New(catSets, script{}, desired.Child(configMaps, desired.InPlace)).Reconciler(t.Context(), env)
			require.NoError(t, err)
			_, err = reconciler.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(p)})
			if row.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.want)
			assert.True(t, request.IsPermanent(err))
		})
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	t.Run("desired 23: it declares the rights that it needs, and counts its parents", func(t *testing.T) {
		t.Parallel()
		cluster := memory(t)
		p := parent(configMap("a"))
		p.SetNamespace("test")
		_, err := cluster.Port().Create(t.Context(), p, deploy.CreateOptions{})
		require.NoError(t, err)
		c := desired.New(catSets, script{}, desired.Child(configMaps, desired.InPlace), desired.Child(secrets, desired.Replace), desired.Child(pods, desired.RollingRecreate))
		reconciler, err := c.Reconciler(t.Context(), envOf(t, cluster))
		require.NoError(t, err)
		var rights []string
		for _, right := range reconciler.(watch.RightsProvider).Rights() {
			rights = append(rights, strings.TrimSuffix(right.Kind.Kind+"/"+right.Subresource, "/")+" "+strings.Join(right.Verbs, ","))
		}
		assert.Equal(t, []string{
			"CatSet get,list,watch,patch", "CatSet/finalizers update", "CatSet/status patch",
			"ConfigMap get,list,watch,create,update,patch,delete", "Secret get,list,watch,create,update,patch,delete",
			"Pod get,list,watch,create,update,patch,delete", "PersistentVolumeClaim list", "ResourceQuota list",
		}, rights)
		_, err = reconciler.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(p)})
		require.NoError(t, err)
		assert.Equal(t, 1, reconciler.(standing.Provider).Tally().Resources[standing.Settled])
		reconciler.(watch.Forgetter).Forget(deploy.RefOf(p))
		assert.Empty(t, reconciler.(standing.Provider).Tally().Resources)
	})
}
