package explore

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore/internal/edit"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// realSamples are resources of the definitions in testdata/real.
var realSamples = []string{
	`{apiVersion: examples.operkit.dev/v1, kind: WebApp, metadata: {name: hello}, spec: {image: registry.example.com/hello,
		channel: "https://releases.example.com/stable.json", stages: [{namespace: staging, replicas: 1}, {namespace: production, replicas: 3}]}}`,
	`{apiVersion: examples.operkit.dev/v1, kind: Database, metadata: {name: hello}, spec: {storage: 1Gi, archive: archive, backup: {schedule: 0 3 * * *}}}`,
	`{apiVersion: oper8.org/v1, kind: TemporaryPatch, metadata: {name: hello}, spec: {apiVersion: v1, kind: Shop, name: tea, patchType: strategic, patch: {a: b}}}`,
}

func TestRealDefinitions(t *testing.T) {
	trial := newTrial(t.Context())
	defer trial.end()
	o, err := newOptions([]Option{Definitions("testdata/real", "testdata/crd"), Samples("testdata/samples")})
	require.NoError(t, err)
	h := explorerOf(t, of(sound), o, startSessions).start(trial, func() {})
	for _, text := range realSamples {
		sample := &unstructured.Unstructured{Object: object("%s", text)}
		possible := accepted(h, sample)
		all := edit.Of(sample, definitionsOf(h))
		t.Logf("%d of %d edits of %s: %s", len(possible), len(all), sample.GetKind(), strings.Join(namesOf(possible), "; "))
		t.Run("explore 20: the cluster accepts each edit of a "+sample.GetKind(), func(t *testing.T) {
			require.NotEmpty(t, possible)
			for _, by := range all {
				after := sample.DeepCopy()
				by.Do(after)
				assert.NoError(t, tried(h, after), by.Name)
			}
		})
		t.Run("explore 24: names of edits of a "+sample.GetKind()+" are unique and short", func(t *testing.T) {
			seen := namesOf(all)
			for _, name := range seen {
				assert.LessOrEqual(t, len([]rune(name)), 60, name)
			}
			slices.Sort(seen)
			assert.Equal(t, slices.Compact(slices.Clone(seen)), seen)
		})
		fields := slices.Collect(maps.Keys(edit.Fields(sample, definitionsOf(h))))
		for _, by := range all {
			assert.Subset(t, fields, by.Paths, by.Name)
		}
	}
}

func tried(h *reconciletest.Harness, obj *unstructured.Unstructured) error {
	if err := h.TryApply(obj); err != nil {
		return err
	}
	return h.TryDelete(nameOf(obj))
}

func TestOrder(t *testing.T) {
	o, err := newOptions([]Option{Definitions("testdata/crd"), Samples("testdata/samples", "testdata/second")})
	require.NoError(t, err)
	all, err := explorerOf(t, of(sound), o, startSessions).lives()
	require.NoError(t, err)
	var got []string
	for _, l := range all {
		got = append(got, strings.TrimPrefix(l.name, "Shop.explore.operkit.dev "))
	}
	t.Run("explore 24: samples, one edit of each field, edges, two fields, and fields that another sample has changed", func(t *testing.T) {
		assert.Equal(t, []string{
			"tea", "coffee", "tea for a minute",
			`tea with spec.colour: "red"`, "tea with spec.open: true", `tea with spec.sign: "teax"`, "tea with spec.size: 3",
		}, got[:7])
		assert.Equal(t, []string{"tea", `tea with spec.sign left out`}, []string{got[0], got[7]})
		t.Log(strings.Join(got, "\n"))
	})
}

func namesOf(all []edit.Edit) (names []string) {
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names
}
