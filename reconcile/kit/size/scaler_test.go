package size_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// scale sets the number of replicas of web as an autoscaler does. The cluster in memory has no scale subresource: an
// update is marked as one of it.
func scale(t *testing.T, h *reconciletest.Harness, n int) {
	t.Helper()
	scaleBy(t, h, n, "hpa")
}

func scaleBy(t *testing.T, h *reconciletest.Harness, n int, manager string) {
	t.Helper()
	ref := webRef
	ref.Namespace = "test"
	patch := func(kind types.PatchType, body []byte) {
		_, err := h.Cluster().Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: kind, Body: body, FieldManager: manager})
		require.NoError(t, err)
	}
	patch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n))
	metadata := h.Get("Deployment web").DeepCopy().Object["metadata"].(fields)
	for _, item := range metadata["managedFields"].(list) {
		if entry := item.(fields); entry["manager"] == manager {
			entry["subresource"] = "scale"
		}
	}
	body, err := json.Marshal([]fields{{"op": "replace", "path": "/metadata/managedFields", "value": metadata["managedFields"]}})
	require.NoError(t, err)
	patch(types.JSONPatchType, body)
}

func mark(h *reconciletest.Harness) string {
	return h.Get("Deployment web").GetAnnotations()["operkit.dev/scaled"]
}

func TestScalerThatIsNotDeclared(t *testing.T) {
	t.Parallel()
	h := harness(t, store, sized(t))
	h.Apply(shop(fields{"size": "large"}))
	h.RunUntilSettled()
	scale(t, h, 5)
	t.Run("size 16: a scaler keeps its number, also when the size changes", func(t *testing.T) {
		h.RunUntilSettled()
		assert.Zero(t, writesTo(h, "Deployment"))
		edit(t, h, fields{"size": "small"})
		h.RunUntilSettled()
		assert.EqualValues(t, 5, replicas(h, "Deployment web"))
		assert.Equal(t, fields{"requests": fields{"cpu": "100m", "memory": "128Mi"}}, resourcesOf(h, "Deployment web"))
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(2)}}})
		h.RunUntilSettled()
		assert.EqualValues(t, 5, replicas(h, "Deployment web"), "an override is no reason either")
	})
	t.Run("size 18: an override of 0 takes the number from the scaler", func(t *testing.T) {
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		h.RunUntilSettled()
		assert.EqualValues(t, 0, replicas(h, "Deployment web"))
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		edit(t, h, fields{"overrides": nil})
		h.RunUntilSettled()
		assert.EqualValues(t, 1, replicas(h, "Deployment web"))
	})
	t.Run("size 18: also from a scaler whose name begins with that of the operator", func(t *testing.T) {
		scaleBy(t, h, 5, "operkit-scaler")
		h.RunUntilSettled()
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		h.RunUntilSettled()
		assert.EqualValues(t, 0, replicas(h, "Deployment web"))
		edit(t, h, fields{"overrides": nil})
		h.RunUntilSettled()
	})
	t.Run("size 18: a dry run takes nothing", func(t *testing.T) {
		scale(t, h, 5)
		h.RunUntilSettled()
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		h.Render("Shop tea")
		assert.EqualValues(t, 5, replicas(h, "Deployment web"))
		assert.Contains(t, fmt.Sprint(h.Get("Deployment web").Object["metadata"]), "subresource:scale")
	})
}

// writesTo returns how many writes to a kind the latest run took.
func writesTo(h *reconciletest.Harness, kind string) (n int) {
	for _, call := range h.Calls() {
		if call.Write() && call.Ref.Kind.Kind == kind {
			n++
		}
	}
	return n
}

func TestDeclaredScaler(t *testing.T) {
	t.Parallel()
	t.Run("size 17: a component with an autoscaler from the start has no number of its own", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		assert.Equal(t, 2, writesTo(h, "Deployment"), "they are created, and not changed")
		assert.NotContains(t, h.Get("Deployment web").Object["spec"], "replicas")
		assert.Equal(t, "autoscaling/v2 HorizontalPodAutoscaler web", mark(h))
		assert.NotNil(t, resourcesOf(h, "Deployment web"))
		assert.EqualValues(t, 4, replicas(h, "Deployment other"))

		scale(t, h, 6)
		h.RunUntilSettled()
		assert.Zero(t, writesTo(h, "Deployment"))
		edit(t, h, fields{"size": "small"})
		h.RunUntilSettled()
		assert.EqualValues(t, 6, replicas(h, "Deployment web"))
	})
	t.Run("size 17: the number is handed over, and given back when the autoscaler is gone", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large"}))
		h.RunUntilSettled()
		edit(t, h, fields{"scaled": true})
		h.RunUntilSettled()
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
		edit(t, h, fields{"size": "small"})
		h.RunUntilSettled()
		assert.EqualValues(t, 3, replicas(h, "Deployment web"), "the size doesn't count any more")
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		scale(t, h, 6)
		h.RunUntilSettled()
		assert.EqualValues(t, 6, replicas(h, "Deployment web"))
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)

		edit(t, h, fields{"scaled": nil})
		h.RunUntilSettled()
		h.Gone("HorizontalPodAutoscaler web")
		assert.EqualValues(t, 1, replicas(h, "Deployment web"))
		assert.Empty(t, mark(h))
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("size 17: a number is left to an autoscaler that isn't deleted yet", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		scale(t, h, 6)
		h.RunUntilSettled()
		h.Edit("HorizontalPodAutoscaler web", func(obj *unstructured.Unstructured) { obj.SetFinalizers([]string{"example.com/held"}) })
		edit(t, h, fields{"scaled": nil})
		h.RunUntilSettled()
		assert.EqualValues(t, 6, replicas(h, "Deployment web"))
		h.Edit("HorizontalPodAutoscaler web", func(obj *unstructured.Unstructured) { obj.SetFinalizers(nil) })
		h.RunUntilSettled()
		h.Gone("HorizontalPodAutoscaler web")
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
	})
	t.Run("size 17: a number that somebody else owns, too, is left to them", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large"}))
		h.RunUntilSettled()
		theirs := &unstructured.Unstructured{Object: fields{"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": fields{"name": "web", "namespace": "test"}, "spec": fields{"replicas": int64(3)}}}
		_, err := h.Cluster().Port().Apply(t.Context(), theirs, deploy.ApplyOptions{FieldManager: "helm"})
		require.NoError(t, err)
		edit(t, h, fields{"scaled": true})
		h.RunUntilSettled()
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
		for _, entry := range h.Get("Deployment web").GetManagedFields() {
			if entry.Manager == "operkit" {
				assert.NotContains(t, entry.FieldsV1.String(), "f:replicas")
			}
		}
	})
	t.Run("size 17: a scaler that an option declares", func(t *testing.T) {
		t.Parallel()
		h := harness(t, func(_ context.Context, s *reconcile.Session) error {
			s.Add("web", deployment("web", "web"))
			s.Add("db", deployment("db", "db"))
			return nil
		}, sized(t, size.Scaled(nil), size.Scaled(func(s *reconcile.Session, component string) bool {
			return component == "web" && field(s, "scaled") == true
		})))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		assert.NotContains(t, h.Get("Deployment web").Object["spec"], "replicas")
		assert.EqualValues(t, 2, replicas(h, "Deployment db"))
		scale(t, h, 6)
		h.RunUntilSettled()
		edit(t, h, fields{"scaled": nil})
		h.RunUntilSettled()
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
		assert.Empty(t, mark(h))
	})
	t.Run("size 18: an override of 0 wins over a declared scaler, which begins again afterwards", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		scale(t, h, 6)
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(0)}}})
		h.RunUntilSettled()
		assert.EqualValues(t, 0, replicas(h, "Deployment web"))
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		edit(t, h, fields{"overrides": fields{"web": fields{"replicas": int64(4)}}})
		h.RunUntilSettled()
		assert.NotContains(t, h.Get("Deployment web").Object["spec"], "replicas", "the API server makes it 1")
	})
}

func TestScalerThatIsGone(t *testing.T) {
	t.Parallel()
	t.Run("size 17: without a number in the table the number of the object counts again", func(t *testing.T) {
		t.Parallel()
		read, err := size.ReadYAML([]byte("small: {web: {resources: {limits: {cpu: 1}}}}"))
		require.NoError(t, err)
		option, err := size.Components(read, size.Default("small"))
		require.NoError(t, err)
		h := harness(t, func(_ context.Context, s *reconcile.Session) error {
			web := deployment("web", "web")
			web["spec"].(fields)["replicas"] = int64(4)
			objects := []any{web}
			if field(s, "scaled") == true {
				objects = append(objects, autoscaler("web"))
			}
			s.Add("web", objects...)
			return nil
		}, option)
		h.Apply(shop(fields{"scaled": true}))
		h.RunUntilSettled()
		scale(t, h, 6)
		h.RunUntilSettled()
		assert.EqualValues(t, 6, replicas(h, "Deployment web"))
		edit(t, h, fields{"scaled": nil})
		h.RunUntilSettled()
		assert.EqualValues(t, 4, replicas(h, "Deployment web"))
	})
	t.Run("size 17: without the right to autoscalers, a number is left to one that was declared before", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		scale(t, h, 6)
		h.RunUntilSettled()
		edit(t, h, fields{"scaled": nil, "image": "example.invalid/web:2"})
		manager, err := deploy.NewManager(barred{h.Memory()})
		require.NoError(t, err)
		r, err := reconcile.New(reconciletest.Controlling(shops, store), manager, sized(t), reconcile.Logger(slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		_, err = r.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(h.Get("Shop tea"))})
		require.NoError(t, err)
		assert.Contains(t, fmt.Sprint(h.Get("Deployment web").Object["spec"]), "example.invalid/web:2")
		assert.EqualValues(t, 6, replicas(h, "Deployment web"))
		assert.NotEmpty(t, mark(h))
	})
	t.Run("size 17: an annotation that names no autoscaler is none", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t))
		h.Apply(shop(fields{"size": "large", "scaled": true}))
		h.RunUntilSettled()
		scale(t, h, 6)
		h.Apply(fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "web"}})
		edit(t, h, fields{"scaled": nil})
		h.Edit("Deployment web", func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/scaled": "v1 Secret web"})
		})
		h.RunUntilSettled()
		assert.EqualValues(t, 3, replicas(h, "Deployment web"))
	})
	t.Run("size 18: an override of 0 takes the number of a workload that the operator adopts", func(t *testing.T) {
		t.Parallel()
		h := harness(t, store, sized(t), reconciletest.Manager(deploy.Adopt(deploy.AdoptUnowned)))
		web := deployment("web", "web")
		web["spec"].(fields)["replicas"] = int64(2)
		h.Apply(web)
		scale(t, h, 6)
		h.Apply(shop(fields{"size": "large", "overrides": fields{"web": fields{"replicas": int64(0)}}}))
		h.RunUntilSettled()
		h.Advance(time.Minute)
		assert.EqualValues(t, 0, replicas(h, "Deployment web"))
		h.Ready("Shop tea")
	})
}

// barred is a cluster that doesn't let the operator read autoscalers.
type barred struct{ *dryrun.Cluster }

func (b barred) View() deploy.View { return barredView{b.Cluster.View()} }

type barredView struct{ deploy.View }

func (v barredView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if ref.Kind.Kind == "HorizontalPodAutoscaler" {
		return nil, &deploy.ForbiddenError{Verb: "get", Resource: schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}, Err: errors.New("no right")}
	}
	return v.View.Get(ctx, ref)
}

// Which objects are the scaler of a workload.
func TestScalers(t *testing.T) {
	t.Parallel()
	target := func(apiVersion, kind string, target fields) fields {
		return fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": "s"}, "spec": fields{"scaleTargetRef": target}}
	}
	for reason, row := range map[string]struct {
		scaler fields
		scaled bool
	}{
		"an HPA":                            {target("autoscaling/v1", "HorizontalPodAutoscaler", fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}), true},
		"KEDA, whose default is Deployment": {target("keda.sh/v1alpha1", "ScaledObject", fields{"name": "web"}), true},
		"another kind of target":            {target("autoscaling/v2", "HorizontalPodAutoscaler", fields{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web"}), false},
		"another group of the target":       {target("autoscaling/v2", "HorizontalPodAutoscaler", fields{"apiVersion": "example.com/v1", "kind": "Deployment", "name": "web"}), false},
		"another target":                    {target("autoscaling/v2", "HorizontalPodAutoscaler", fields{"apiVersion": "apps/v1", "kind": "Deployment", "name": "db"}), false},
		"no target":                         {target("autoscaling/v2", "HorizontalPodAutoscaler", nil), false},
		"a kind of somebody else":           {target("example.com/v1", "ScaledObject", fields{"name": "web"}), false},
		"a spec of another form":            {fields{"apiVersion": "keda.sh/v1", "kind": "ScaledObject", "metadata": fields{"name": "s"}, "spec": list{"web"}}, false},
	} {
		t.Run("size 17: "+reason, func(t *testing.T) {
			t.Parallel()
			h := harness(t, func(_ context.Context, s *reconcile.Session) error {
				s.Add("web", deployment("web", "web"), row.scaler)
				return nil
			}, sized(t))
			h.Apply(shop(fields{"size": "large"}))
			h.RunUntilSettled()
			assert.Equal(t, row.scaled, mark(h) != "")
		})
	}
}
