package rule_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// The two kinds have the same schema. The rules of the first one are in its definition, those of the second one in a
// policy.
var (
	ruled   = schema.GroupVersionKind{Group: "rules.example.com", Version: "v1", Kind: "Ruled"}
	policed = schema.GroupVersionKind{Group: "rules.example.com", Version: "v1", Kind: "Policed"}
)

// schemaOf is the schema of both kinds.
const schemaOf = `
type: object
properties:
  spec:
    type: object
    properties:
      size: {type: integer}
      min: {type: integer}
      max: {type: integer}
      ratio: {type: number}
      name: {type: string, maxLength: 20}
      mode: {type: string, enum: [fast, safe]}
      paused: {type: boolean}
      quota: {x-kubernetes-int-or-string: true}
      at: {type: string, format: date-time}
      every: {type: string, format: duration}
      ports: {type: array, maxItems: 5, items: {type: object, properties: {name: {type: string, maxLength: 10}, number: {type: integer}}}}
      tags: {type: array, maxItems: 5, items: {type: string, maxLength: 10}}
      parts: {type: object, maxProperties: 5, additionalProperties: {type: string, maxLength: 10}}
      inner: {type: object, properties: {deep: {type: object, properties: {value: {type: integer}}}}}
`

// rules are forty rules, of all forms.
func rules() rule.Set {
	r := func(path, cel string) rule.Rule { return rule.Rule{Path: path, CEL: cel} }
	set := rule.Set{
		r("", "has(self.spec)"),
		r("", "!has(self.spec) || has(self.spec.size) || has(self.spec.min)"),
		r("spec", "has(self.size)"),
		r("spec", "!has(self.min) || !has(self.max) || self.min <= self.max"),
		r("spec", "has(self.min) == has(self.max)"),
		r("spec", "!has(self.mode) || self.mode != 'fast' || (has(self.size) && self.size > 2)"),
		r("spec", "!(has(self.paused) && self.paused) || !has(self.every)"),
		r("spec", "!has(self.ports) || !has(self.tags) || self.ports.size() >= self.tags.size()"),
		r("spec", "[has(self.name), has(self.mode), has(self.quota)].filter(x, x).size() <= 2"),
		r("spec", "!has(self.inner) || has(self.inner.deep)"),
		r("spec.size", "self > 0"),
		r("spec.size", "self < 8"),
		r("spec.size", "self % 2 == 0"),
		r("spec.size", "self in [1, 2, 3, 5, 8]"),
		r("spec.min", "self >= -3 && self <= 3"),
		r("spec.max", "self * 2 != 6"),
		r("spec.ratio", "double(self) >= 0.5"),
		r("spec.ratio", "double(self) * 2.0 < 9.0"),
		r("spec.name", "self.startsWith('a')"),
		r("spec.name", "self.matches('^[a-z]+$')"),
		r("spec.name", "self.size() > 3"),
		r("spec.name", "self.lowerAscii() == self"),
		r("spec.name", "!self.contains(\"self\")"),
		r("spec.name", "self.find('[0-9]+') == ''"),
		r("spec.mode", "self == 'safe'"),
		r("spec.paused", "!self"),
		r("spec.quota", "type(self) == int ? self < 100 : self.endsWith('%')"),
		r("spec.quota", "type(self) == string ? isQuantity(self.replace('%', '')) : true"),
		r("spec.at", "timestamp(self) > timestamp('2026-01-01T00:00:00Z')"),
		r("spec.at", "timestamp(self).getFullYear() < 2030"),
		r("spec.every", "duration(self) >= duration('1m')"),
		r("spec.ports", "self.all(p, !has(p.number) || p.number < 1000)"),
		r("spec.ports", "self.exists(p, has(p.name) && p.name == 'web')"),
		r("spec.ports", "self.map(p, has(p.number) ? p.number : 0).isSorted()"),
		r("spec.ports[*]", "has(self.number)"),
		r("spec.ports[*].name", "self != ''"),
		r("spec.tags[*]", "self.size() < 4"),
		r("spec.parts", "self.all(k, k != 'x')"),
		r("spec.parts{*}", "self in ['a', 'b']"),
		r("spec.inner.deep.value", "self != 3"),
	}
	for i := range set {
		set[i].Message = fmt.Sprintf("rule-%02d holds", i)
	}
	return set
}

func TestLayers(t *testing.T) {
	t.Run("admission 23: on the API server a definition and a policy find the same rules broken, for 500 objects and 40 rules", func(t *testing.T) {
		set := rules()
		require.Len(t, set, 40)
		w := newWorld(t, set)
		random := rand.New(rand.NewPCG(1, 2))
		broken := 0
		for i := range 500 {
			spec := specOf(random)
			inDefinition, inPolicy := w.refused(ruled, i, spec), w.warned(policed, i, spec)
			require.Equal(t, inDefinition, inPolicy, "%v", spec)
			broken += len(inDefinition)
		}
		t.Logf("500 objects x 40 rules: %d rules broken, the same in both layers", broken)
		assert.Greater(t, broken, 1000)
	})
}

// world is an API server with both kinds.
type world struct {
	t         *testing.T
	namespace string
	client    *dynamic.DynamicClient
	warnings  *warnings
}

// warnings collects the warnings of answers.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	texts := w.texts
	w.texts = nil
	return texts
}

func newWorld(t *testing.T, set rule.Set) *world {
	folder := t.TempDir()
	for _, kind := range []schema.GroupVersionKind{ruled, policed} {
		definition := definitionOf(t, kind)
		if kind == ruled {
			var err error
			definition, err = set.AddTo(definition)
			require.NoError(t, err)
		}
		text, err := yaml.Marshal(definition)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, kind.Kind+".yaml"), text, 0o600))
	}
	env := envtest.Start(t, envtest.CRDs(folder))
	config := rest.CopyConfig(env.Admin)
	w := &world{t: t, namespace: env.Namespace, warnings: &warnings{}}
	config.WarningHandler, config.QPS = w.warnings, -1
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	w.client = client
	w.police(set)
	return w
}

// police creates the policy, and waits until it is in force. Its binding warns, because a denial names one rule only.
func (w *world) police(set rule.Set) {
	policy, binding, err := append(slices.Clone(set), rule.Rule{Path: "metadata.name", CEL: "self != 'probe'", Message: "rule-probe holds"}).
		Policy(rule.Policy{
			Name: "rules-" + w.namespace, Kind: policed, Resource: "policeds",
			Actions:    []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn},
			Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.namespace}},
		})
	require.NoError(w.t, err)
	for resource, object := range map[string]any{"validatingadmissionpolicies": policy, "validatingadmissionpolicybindings": binding} {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		require.NoError(w.t, err)
		api := w.client.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
		_, err = api.Create(w.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
		require.NoError(w.t, err)
		w.t.Cleanup(func() {
			assert.NoError(w.t, api.Delete(context.WithoutCancel(w.t.Context()), policy.Name, metav1.DeleteOptions{}))
		})
	}
	require.Eventually(w.t, func() bool {
		return slices.Contains(w.warned(policed, -1, nil), "rule-probe")
	}, 30*time.Second, 50*time.Millisecond, "the policy comes into force")
}

// create creates an object as a dry run. Object -1 is called probe.
func (w *world) create(kind schema.GroupVersionKind, i int, spec any) error {
	name := fmt.Sprintf("o%d", i)
	if i < 0 {
		name = "probe"
	}
	object := map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "metadata": map[string]any{"name": name}}
	if spec != nil {
		object["spec"] = spec
	}
	_, err := w.client.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind)+"s")).Namespace(w.namespace).
		Create(w.t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// refused returns the rules that the API server finds broken by the definition.
func (w *world) refused(kind schema.GroupVersionKind, i int, spec any) (found []string) {
	err := w.create(kind, i, spec)
	if err == nil {
		return nil
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	require.True(w.t, ok && status.ErrStatus.Details != nil, "%v", err)
	for _, cause := range status.ErrStatus.Details.Causes {
		found = append(found, rulesIn(cause.Message)...)
		require.NotEmpty(w.t, rulesIn(cause.Message), "a rule and not the schema: %s", cause.Message)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// warned returns the rules that the API server finds broken by the policy.
func (w *world) warned(kind schema.GroupVersionKind, i int, spec any) (found []string) {
	w.warnings.take()
	require.NoError(w.t, w.create(kind, i, spec))
	for _, text := range w.warnings.take() {
		require.NotEmpty(w.t, rulesIn(text), text)
		found = append(found, rulesIn(text)...)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// rulesIn returns the names of rules in a text.
func rulesIn(text string) (names []string) {
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "rule-") {
			names = append(names, word)
		}
	}
	return names
}

func definitionOf(t *testing.T, kind schema.GroupVersionKind) *unstructured.Unstructured {
	t.Helper()
	var content map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(schemaOf), &content))
	plural := strings.ToLower(kind.Kind) + "s"
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + "." + kind.Group},
		"spec": map[string]any{
			"group": kind.Group, "scope": "Namespaced",
			"names":    map[string]any{"kind": kind.Kind, "plural": plural, "singular": strings.ToLower(kind.Kind), "listKind": kind.Kind + "List"},
			"versions": []any{map[string]any{"name": kind.Version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": content}}},
		},
	}}
}

// specOf returns a spec that is valid by the schema, and breaks some rules.
func specOf(random *rand.Rand) map[string]any {
	some := func(values ...any) any { return values[random.IntN(len(values))] }
	fields := map[string]func() any{
		"size": func() any { return random.Int64N(12) - 1 }, "min": func() any { return random.Int64N(10) - 5 }, "max": func() any { return random.Int64N(10) - 5 },
		"ratio": func() any { return some(int64(0), int64(1), 0.25, 4.5, int64(5)) },
		"name":  func() any { return some("", "abc", "abcd", "Abcde", "b1", "aself", "añb") },
		"mode":  func() any { return some("fast", "safe") }, "paused": func() any { return some(true, false) },
		"quota": func() any { return some(int64(5), int64(500), "5%", "x%", "7", "1Gi") },
		"at":    func() any { return some("2025-12-31T23:59:59Z", "2026-06-01T12:00:00+02:00", "2031-01-01T00:00:00Z") },
		"every": func() any { return some("30s", "1m", "1h30m", "-5s") },
		"ports": func() any {
			ports := []any{}
			for range random.IntN(4) {
				port := map[string]any{}
				if random.IntN(4) > 0 {
					port["number"] = some(int64(80), int64(443), int64(8080))
				}
				if random.IntN(2) > 0 {
					port["name"] = some("web", "", "tls")
				}
				ports = append(ports, port)
			}
			return ports
		},
		"tags": func() any { return some([]any{}, []any{"a", "long"}, []any{"b"}, []any{"x", "y", "z"}) },
		"parts": func() any {
			return some(map[string]any{}, map[string]any{"x": "a"}, map[string]any{"y": "c", "z-w": "b"})
		},
		"inner": func() any {
			return some(map[string]any{}, map[string]any{"deep": map[string]any{}}, map[string]any{"deep": map[string]any{"value": int64(3)}})
		},
	}
	spec := map[string]any{}
	names := []string{"size", "min", "max", "ratio", "name", "mode", "paused", "quota", "at", "every", "ports", "tags", "parts", "inner"}
	for _, name := range names {
		if value := fields[name](); random.IntN(2) > 0 {
			spec[name] = value
		}
	}
	return spec
}
