package dryrun_test

import (
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func names(cluster *dryrun.Cluster, kind string) (names []string) {
	for _, obj := range cluster.Objects() {
		if obj.GetKind() == kind {
			names = append(names, obj.GetName())
		}
	}
	return names
}

func TestNamespacesMustExist(t *testing.T) {
	t.Parallel()
	shop := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	for name, test := range map[string]struct {
		options []dryrun.Option
		exists  bool
	}{
		"by default":                             {nil, false},
		"one that was given":                     {[]dryrun.Option{dryrun.Namespaces("shop")}, true},
		"one that is an object":                  {[]dryrun.Option{dryrun.Objects(shop)}, true},
		"any":                                    {[]dryrun.Option{dryrun.Namespaces("*")}, true},
		"any, since any kind is":                 {[]dryrun.Option{dryrun.AnyKind()}, true},
		"not with any kind, when some are given": {[]dryrun.Option{dryrun.AnyKind(), dryrun.Namespaces("bank")}, false},
	} {
		t.Run("deploy W24: "+name, func(t *testing.T) {
			t.Parallel()
			cluster, err := dryrun.New(test.options...)
			require.NoError(t, err)
			before := cluster.Objects()
			for verb, write := range map[string]func() error{
				"apply": func() error { return attempt(t.Context(), t, cluster) },
				"create": func() error {
					_, err := requests(cluster).Create(t.Context(), settings(t, "{}"), deploy.CreateOptions{DryRun: true})
					return err
				},
			} {
				err := write()
				if test.exists {
					if verb == "apply" {
						require.NoError(t, err)
					}
					continue
				}
				var absent *deploy.NotFoundError
				require.ErrorAs(t, err, &absent, verb)
				var status apierrors.APIStatus
				require.ErrorAs(t, err, &status)
				assert.Equal(t, "namespaces", status.Status().Details.Kind, "it is the namespace that is missing")
				assert.Equal(t, before, cluster.Objects())
			}
		})
	}
	t.Run("a server's own are there", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New()
		require.NoError(t, err)
		assert.Equal(t, []string{"default", "kube-node-lease", "kube-public", "kube-system"}, names(cluster, "Namespace"))
		again, err := dryrun.New(dryrun.Objects(cluster.Objects()...))
		require.NoError(t, err)
		assert.Equal(t, cluster.Objects(), again.Objects())
	})
	t.Run("one comes to exist by being applied", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New()
		require.NoError(t, err)
		shop := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {a: b}}}")
		obj := apply(t, cluster, "operkit", shop)
		assert.Equal(t, map[string]string{"kubernetes.io/metadata.name": "shop", "a": "b"}, obj.GetLabels())
		phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
		assert.Equal(t, "Active", phase)
		require.NoError(t, attempt(t.Context(), t, cluster))
		assert.Equal(t, obj, apply(t, cluster, "operkit", shop), "deploy W18: it settles")
	})
}

func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	shopRef := deploy.Ref{Kind: namespace, Name: "shop"}
	t.Run("deploy W24: what is in a namespace goes with it", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New(dryrun.Namespaces("shop", "bank"))
		require.NoError(t, err)
		apply(t, cluster, "m", settings(t, "{}"))
		apply(t, cluster, "m", object(t, webHead+"spec: {}"))
		other := settings(t, "{}")
		other.SetNamespace("bank")
		apply(t, cluster, "m", other)
		events := record(t, cluster, namespace)
		start := len(events.all())
		require.NoError(t, cluster.Port().Delete(t.Context(), shopRef, deploy.DeleteOptions{}))
		assert.Nil(t, get(t, cluster, shopRef))
		assert.Equal(t, []string{"settings"}, names(cluster, "ConfigMap"), "that of the bank")
		assert.Empty(t, names(cluster, "Deployment"))
		events.wait(t, start+2)
		seen := events.all()[start:]
		assert.Equal(t, deploy.Modified, seen[0].Type, "first it is being deleted")
		phase, _, _ := unstructured.NestedString(seen[0].New.Object, "status", "phase")
		assert.Equal(t, "Terminating", phase)
		assert.Equal(t, deploy.Deleted, seen[1].Type)
	})
	t.Run("deploy W24: it waits for what is held, and takes nothing new", func(t *testing.T) {
		t.Parallel()
		cluster, err := dryrun.New(dryrun.Namespaces("shop"))
		require.NoError(t, err)
		held := settings(t, "{}")
		held.SetFinalizers([]string{"shop/hold"})
		apply(t, cluster, "m", held)
		require.NoError(t, cluster.Port().Delete(t.Context(), shopRef, deploy.DeleteOptions{}))
		obj := get(t, cluster, shopRef)
		require.NotNil(t, obj)
		assert.NotNil(t, obj.GetDeletionTimestamp())
		merge(t, cluster, shopRef, "m", `{"metadata":{"labels":{"a":"b"}}}`)
		require.NotNil(t, get(t, cluster, shopRef), "a write doesn't end it")

		other := settings(t, "{}")
		other.SetName("other")
		_, err = cluster.Port().Apply(t.Context(), other, deploy.ApplyOptions{FieldManager: "m"})
		var forbidden *deploy.ForbiddenError
		require.ErrorAs(t, err, &forbidden)
		assert.Equal(t, "configmaps", forbidden.Resource.Resource)
		assert.ErrorContains(t, err, "because it is being terminated")
		assert.True(t, apierrors.HasStatusCause(errors.Unwrap(err), "NamespaceTerminating"))

		merge(t, cluster, settingsRef, "m", `{"metadata":{"finalizers":null}}`)
		assert.Nil(t, get(t, cluster, shopRef))
		assert.NotContains(t, names(cluster, "Namespace"), "shop")
	})
	t.Run("a definition waits for its objects", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		held := shelf(t, "{color: red}")
		held.SetFinalizers([]string{"shop/hold"})
		apply(t, cluster, "m", held)
		definition := deploy.RefOf(object(t, shelves))
		require.NoError(t, cluster.Port().Delete(t.Context(), definition, deploy.DeleteOptions{}))
		require.NotNil(t, get(t, cluster, definition))
		merge(t, cluster, shelfRef, "m", `{"metadata":{"finalizers":null}}`)
		assert.Nil(t, get(t, cluster, definition))
		_, err := cluster.Port().Scope(t.Context(), shelfKind)
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
	})
}
