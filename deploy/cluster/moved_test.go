package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// oper8 is the name under which oper8's requests own fields, applies as well as replacements.
const oper8 = "oper8"

// movedCase is an object as oper8 left it, and what the new operator renders in its place.
type movedCase struct {
	// seeds are written one after the other: the first is created, or applied with "apply", the others replace it ("put").
	// A "merge" is a merge patch. Each is by oper8, or by the manager named behind a slash.
	seeds   []seed
	intent  string
	options []deploy.Option
	// gone are places of which nothing may be left, kept those that stay.
	gone, kept []string
	// rounds is how many applies it takes, 0 for one.
	rounds int
	// refused: an apply would be refused while what goes is there, which is what diff reports, where the cluster validates
	// it.
	refused bool
}

type seed struct{ how, text string }

// movedCases are the fields that oper8 wrote, by reason.
var movedCases = map[string]movedCase{
	"data, labels and annotations": {
		seeds: []seed{
			{"post", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {old: x, app: a}}, data: {a: '1', old: x}}"},
			{"put", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {old: x, app: a}, annotations: {oper8.org/internal-name: a}}, data: {a: '1', old: x, older: x}}"},
		},
		intent: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: a}}, data: {a: '2'}}",
		gone:   []string{"metadata.labels.old", "metadata.annotations.oper8.org/internal-name", "data.old", "data.older"}, kept: []string{"metadata.labels.app", "data.a"},
	},
	"the same values, with more beside": {
		seeds: []seed{
			{"apply", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}"},
			{"put", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1', old: x}}"},
		},
		intent: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}", gone: []string{"data.old"}, kept: []string{"data.a"},
	},
	"a label alone": {
		seeds: []seed{
			{"apply", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}"},
			{"put", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {old: x}}, data: {a: '1'}}"},
		},
		intent: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}", gone: []string{"metadata.labels.old"}, kept: []string{"data.a"},
	},
	"values of a Secret": {
		seeds: []seed{
			{"post", "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: MQ==, old: MQ==}}"},
			{"put", "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: Mg==, old: MQ==}}"},
		},
		intent: "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: MQ==}}", gone: []string{"data.old"}, kept: []string{"data.a"},
	},
	"a container, variables and a selector of nodes": {
		seeds: []seed{
			{"post", webOf("nodeSelector: {disk: ssd}, containers: [{name: web, image: web, env: [{name: A, value: '1'}, {name: OLD, value: x}], args: [x]}, {name: old, image: old}]")},
			{"put", webOf("nodeSelector: {disk: ssd}, containers: [{name: web, image: web:1, env: [{name: OLD, value: z}, {name: A, value: '2'}], args: [z]}, {name: old, image: old}]")},
		},
		intent: webOf("containers: [{name: web, image: web:1, env: [{name: A, value: '1'}]}]"),
		gone:   []string{"spec.template.spec.nodeSelector", "spec.template.spec.containers.1", "spec.template.spec.containers.0.env.1", "spec.template.spec.containers.0.args"},
		kept:   []string{"spec.template.spec.containers.0.env.0.value"},
	},
	"a value in place of a reference": {
		seeds: []seed{
			{"post", webOf("containers: [{name: web, image: web, env: [{name: A, value: '1'}]}]")},
			{"put", webOf("containers: [{name: web, image: web, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]")},
		},
		intent: webOf("containers: [{name: web, image: web, env: [{name: A, value: '2'}]}]"), refused: true,
		gone: []string{"spec.template.spec.containers.0.env.0.valueFrom"}, kept: []string{"spec.template.spec.containers.0.env.0.value"},
	},
	"a port of a Service": {
		seeds: []seed{
			{"post", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{name: web, port: 80}, {name: old, port: 81}]}}"},
			{"put", "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a, old: x}, ports: [{name: web, port: 80, targetPort: 8080}, {name: old, port: 81}]}}"},
		},
		intent: "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{name: web, port: 80}]}}",
		gone:   []string{"spec.ports.1", "spec.selector.old"}, kept: []string{"spec.selector.app", "spec.ports.0"},
	},
	"another version of the kind": {
		seeds: []seed{
			{"post", "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, labels: {old: x}}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, minReplicas: 2, maxReplicas: 3, targetCPUUtilizationPercentage: 70}}"},
		},
		intent: "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}",
		gone:   []string{"metadata.labels.old"}, kept: []string{"spec.maxReplicas"},
	},
	"another version, beside an apply of ours": {
		seeds: []seed{
			{"apply", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a, labels: {gone: x}}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}"},
			{"put", "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, labels: {gone: x, old: x}}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}"},
		},
		intent: "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, maxReplicas: 3}}",
		gone:   []string{"metadata.labels.old", "metadata.labels.gone"}, kept: []string{"spec.maxReplicas"}, rounds: 2,
	},
	"under another name, by TakeOverFrom": {
		seeds: []seed{
			{"apply", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1', applied: x}}"},
			{"put", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '2', applied: x, old: x}}"},
			{"merge/OpenAPI-Generator", "{data: {older: x}}"},
		},
		options: []deploy.Option{deploy.FieldManager("bakery-operator"), deploy.TakeOverFrom(oper8, "OpenAPI-Generator")},
		intent:  "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: '1'}}",
		gone:    []string{"data.applied", "data.old", "data.older"}, kept: []string{"data.a"},
	},
	"not what belongs to others": {
		seeds: []seed{
			{"post", webOf("containers: [{name: web, image: web}]")},
			{"put", strings.Replace(webOf("nodeSelector: {old: x}, containers: [{name: web, image: web}]"), "{name: a}", `{name: a, finalizers: [example.com/held], annotations: {oper8.org/temporary-patches: '{}', old: x}}`, 1)},
			{"merge/kubectl-edit", "{metadata: {labels: {theirs: x}}}"},
		},
		intent: webOf("containers: [{name: web, image: web}]"),
		gone:   []string{"spec.template.spec.nodeSelector", "metadata.annotations.old"},
		kept:   []string{"metadata.finalizers.0", "metadata.annotations.oper8.org/temporary-patches", "metadata.labels.theirs", "spec.template.spec.containers.0.image"},
	},
}

// webOf is a Deployment of no Pods, so that no controller writes it again and again.
func webOf(pod string) string {
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 0, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" + pod + "}}}}"
}

// What oper8 wrote by PUT and isn't rendered goes with the first apply, as diff shows before; then nothing is asked
// for.
func TestMovedFromOper8(t *testing.T) {
	t.Parallel()
	kinds := []schema.GroupVersionKind{configMap, deployment, service, {Version: "v1", Kind: "Secret"}, {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}}
	sides := map[string]func(t *testing.T) movedSide{
		"in memory": func(t *testing.T) movedSide {
			memory, err := dryrun.New(dryrun.Namespaces("shop"))
			require.NoError(t, err)
			start := func() deploy.Cluster { return memory }
			return movedSide{namespace: "shop", port: memory.Port(), start: start, quiet: func(do func()) { do() }}
		},
		"on the API server": func(t *testing.T) movedSide { return realSide(t, kinds) },
		"on the API server, by metadata": func(t *testing.T) movedSide {
			var groups []schema.GroupKind
			for _, kind := range kinds {
				if kind != service && kind != deployment { // at one of each of which a new process looks, for its selector
					groups = append(groups, kind.GroupKind())
				}
			}
			return realSide(t, kinds, cluster.MetadataOnly(groups...))
		},
	}
	for reason, test := range movedCases {
		for where, side := range sides {
			t.Run("fields by PUT/"+reason+"/"+where, func(t *testing.T) {
				t.Parallel()
				test.run(t, side(t))
			})
		}
	}
}

// movedSide is a cluster: the port of whoever was there before, the operator's at a new start, and a check that it asks
// for nothing.
type movedSide struct {
	namespace string
	port      deploy.Port
	start     func() deploy.Cluster
	quiet     func(do func())
}

func realSide(t *testing.T, kinds []schema.GroupVersionKind, options ...cluster.Option) movedSide {
	env := envtest.Start(t)
	return movedSide{
		namespace: env.Namespace, port: newCluster(t, env.Admin).Port(),
		start: func() deploy.Cluster {
			c := newCluster(t, env.Config, append(options, cluster.Namespaces(env.Namespace))...)
			watch(t, c, kinds...)
			return c
		},
		quiet: func(do func()) {
			mark := env.Mark(t)
			do()
			assert.Empty(t, env.CallsSince(t, mark, env.Self).Count())
		},
	}
}

func (c movedCase) run(t *testing.T, side movedSide) {
	seeded := c.seed(t, side)
	ref := deploy.RefOf(object(t, side.namespace, c.intent))
	options := append([]deploy.Option{deploy.FieldManager(oper8), deploy.KeyDomain("oper8.org")}, c.options...)
	m := must(deploy.NewManager(side.start(), options...))
	intent := object(t, side.namespace, c.intent)
	before, err := side.port.Get(t.Context(), ref)
	require.NoError(t, err)

	differences, err := m.Diff(t.Context(), []*unstructured.Unstructured{intent})
	if !c.refused {
		require.NoError(t, err)
		assert.Equal(t, deploy.Configured, differences[0].Action)
	} else if err != nil {
		assert.ErrorContains(t, err, "an apply first removes the fields that predecessors set and the manifest leaves out")
	}
	now, err := side.port.Get(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, ofManifest(before), ofManifest(now), "a diff changes nothing")

	for range max(c.rounds, 1) {
		require.Equal(t, deploy.Configured, apply(t, m, intent).Action)
	}
	after, err := side.port.Get(t.Context(), ref)
	require.NoError(t, err)
	assert.Equal(t, seeded.GetUID(), after.GetUID())
	for _, place := range c.gone {
		assert.False(t, hasPlace(after.Object, place), "%s is left: %v", place, after.Object)
	}
	for _, place := range c.kept {
		assert.True(t, hasPlace(after.Object, place), "%s is gone: %v", place, after.Object)
	}
	if intent.GetKind() != "Secret" && !c.refused {
		assert.Equal(t, changesBetween(before, after), changeTexts(differences[0].Changes), "what diff showed is what was done")
	}
	if len(after.GetFinalizers()) > 0 {
		_, err = side.port.Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"finalizers":null}}`), FieldManager: "kubectl"})
		require.NoError(t, err)
	}
	restarted := must(deploy.NewManager(side.start(), options...))
	side.quiet(func() {
		for _, manager := range []*deploy.Manager{m, restarted, restarted} {
			result := apply(t, manager, intent)
			assert.Equal(t, deploy.Unchanged, result.Action)
			assert.Zero(t, result.Calls)
		}
	})
}

// seed writes what oper8 left, and returns it.
func (c movedCase) seed(t *testing.T, side movedSide) *unstructured.Unstructured {
	t.Helper()
	var live *unstructured.Unstructured
	var err error
	for _, s := range c.seeds {
		how, manager, named := strings.Cut(s.how, "/")
		if !named {
			manager = oper8
		}
		obj := object(t, side.namespace, s.text)
		switch how {
		case "post":
			live, err = side.port.Create(t.Context(), obj, deploy.CreateOptions{FieldManager: manager})
		case "apply":
			var applied deploy.Applied
			applied, err = side.port.Apply(t.Context(), obj, deploy.ApplyOptions{FieldManager: manager, Whole: true})
			live = applied.Object
		case "put":
			live, err = put(t.Context(), side.port, obj, manager)
		case "merge":
			var body []byte
			body, err = yaml.YAMLToJSON([]byte(s.text))
			require.NoError(t, err)
			live, err = side.port.Patch(t.Context(), deploy.RefOf(live), deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: manager})
		}
		require.NoError(t, err)
	}
	return live
}

// put replaces an object as it is now, whatever else writes it meanwhile.
func put(ctx context.Context, port deploy.Port, obj *unstructured.Unstructured, manager string) (*unstructured.Unstructured, error) {
	for {
		live, err := port.Get(ctx, deploy.RefOf(obj))
		if err != nil {
			return nil, err
		}
		obj.SetResourceVersion(live.GetResourceVersion())
		stored, err := port.Update(ctx, obj, deploy.UpdateOptions{FieldManager: manager})
		if stale := (*deploy.StaleError)(nil); !errors.As(err, &stale) {
			return stored, err
		}
	}
}

// hasPlace reports whether there is something at a place, whose steps are separated by dots; a key of an annotation may
// have some.
func hasPlace(value any, place string) bool {
	if place == "" {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if rest, ok := strings.CutPrefix(place, key); ok && (rest == "" || rest[0] == '.') {
				return hasPlace(inner, strings.TrimPrefix(rest, "."))
			}
		}
	case []any:
		first, rest, _ := strings.Cut(place, ".")
		i, err := strconv.Atoi(first)
		return err == nil && i < len(value) && hasPlace(value[i], rest)
	}
	return false
}

// changesBetween are the changes between two states but for the hash, for what controllers write, and for the status.
func changesBetween(before, after *unstructured.Unstructured) []string {
	clean := func(obj *unstructured.Unstructured) map[string]any {
		obj = obj.DeepCopy()
		delete(obj.Object, "status")
		annotations := obj.GetAnnotations()
		maps.DeleteFunc(annotations, func(key, _ string) bool {
			return strings.Contains(key, "/applied-") || strings.HasPrefix(key, "deployment.kubernetes.io/")
		})
		obj.SetAnnotations(annotations)
		if len(annotations) == 0 {
			unstructured.RemoveNestedField(obj.Object, "metadata", "annotations")
		}
		return obj.Object
	}
	return changeTexts(deploy.Changes(clean(before), clean(after)))
}

// texts are changes as texts, sorted.
func changeTexts(changes []deploy.Change) []string {
	var out []string
	for _, change := range changes {
		out = append(out, fmt.Sprint(change.Path, ": ", change.Before, " to ", change.After))
	}
	slices.Sort(out)
	return out
}

// ofManifest returns the managers of an object without those of its status, which a controller may write at any time.
func ofManifest(obj *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(obj.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Subresource == "status" })
}
