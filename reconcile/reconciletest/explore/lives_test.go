package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// oneByOne changes one field of its child for each generation of the resource.
func oneByOne(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	spec, _, _ := unstructured.NestedMap(resource.Object, "spec")
	door, err := m.get(ctx, "ConfigMap", "door", resource)
	if err != nil {
		return err
	}
	want := map[string]string{"sign": fmt.Sprint(spec["sign"]), "open": fmt.Sprint(spec["open"])}
	seen, _, _ := unstructured.NestedInt64(resource.Object, "status", "observedGeneration")
	switch text, err := json.Marshal(want); {
	case err != nil || door != nil && seen == resource.GetGeneration():
		return err
	case door == nil:
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: door}, data: %s}", text)
		if err != nil || seen == resource.GetGeneration() {
			return err
		}
	default:
		field := "sign"
		if now, _, _ := unstructured.NestedString(door.Object, "data", field); now == want[field] {
			field = "open"
		}
		if err := m.patch(ctx, door, "", fmt.Sprintf(`{"data":{%q:%q}}`, field, want[field])); err != nil {
			return err
		}
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"observedGeneration":%d}}`, resource.GetGeneration()))
}

// sticky adds each tag to its child, and never removes one.
func sticky(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	tags, _, _ := unstructured.NestedStringSlice(resource.Object, "spec", "tags")
	door, err := m.get(ctx, "ConfigMap", "door", resource)
	if err == nil && door == nil {
		err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: door}}")
	}
	for _, tag := range tags {
		if door == nil || err != nil {
			break
		}
		if _, has, _ := unstructured.NestedString(door.Object, "data", tag); !has {
			err = m.patch(ctx, door, "", fmt.Sprintf(`{"data":{%q:"yes"}}`, tag))
		}
	}
	return err
}

func TestFaultsOfEdits(t *testing.T) {
	tags := []Option{Definitions("testdata/tags/crd"), Samples("testdata/tags/samples")}
	for _, row := range []struct {
		fault     string
		reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error
		options   []Option
		says      []string
	}{
		{"explore 24: two fields that are edited back at once", oneByOne, []Option{Definitions("testdata/crd"), Samples("testdata/samples"), Replay(`Shop.explore.operkit.dev tea with spec.open: true, spec.sign: "teax" | `)},
			[]string{"an edit that is undone leaves nothing", `spec.open: true, spec.sign: "teax"`, "ConfigMap test/door"}},
		{"explore 22: an item stays", sticky, tags, []string{"an edit that is undone leaves nothing", `spec.tags[0]: "greenx"`, "ConfigMap test/door .data"}},
	} {
		t.Run(row.fault, func(t *testing.T) {
			o, err := newOptions(append([]Option{Findings(1)}, row.options...))
			require.NoError(t, err)
			r, err := explorerOf(t, manually(row.reconcile), o, startDriven).explore()
			require.NoError(t, err)
			require.NotEmpty(t, r.findings, r.String())
			t.Logf("%s\n%s", r, r.findings[0].story())
			for _, says := range row.says {
				assert.Contains(t, r.findings[0].story(), says)
			}
		})
	}
}

func TestLifeNames(t *testing.T) {
	folder := t.TempDir()
	for file, spec := range map[string]string{"a.yaml": "{size: 2}", "b.yaml": "{size: 4}", "c.yaml": "{size: 6}"} {
		text := "{apiVersion: explore.operkit.dev/v1, kind: Shop, metadata: {name: tea}, spec: " + spec + "}"
		require.NoError(t, writeFile(filepath.Join(folder, file), text))
	}
	_, lives := explorerFor(t, careful, Samples(folder))
	names := map[string]bool{}
	for _, l := range lives {
		names[l.name] = true
	}
	t.Run("explore 24: lives of samples of one name have different names", func(t *testing.T) {
		assert.Len(t, names, len(lives))
		for _, name := range []string{"tea", "tea (2)", "tea (3)", "tea (4)", "tea with spec.size: 3", "tea (3) with spec.size: 5"} {
			assert.Contains(t, names, "Shop.explore.operkit.dev "+name)
		}
	})
	t.Run("explore 41: a line means the life of its sample", func(t *testing.T) {
		line := "Shop.explore.operkit.dev tea (3) with spec.size: 5 | without spec.sign | fail@2.1"
		e, _ := explorerFor(t, careful, Samples(folder), Replay(line))
		_, err := e.explore()
		require.ErrorContains(t, err, "has no such field", "only the first sample has a sign")
		e, _ = explorerFor(t, careful, Samples(folder), Replay(strings.Replace(line, " | without spec.sign", "", 1)))
		r, err := e.explore()
		require.NoError(t, err)
		assert.Empty(t, r.findings)
	})
}
