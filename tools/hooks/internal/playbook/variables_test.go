//go:build unix

package playbook_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/playbook"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// variables returns the extra variables of a run.
func (b *bench) variables(t *testing.T) map[string]any {
	t.Helper()
	result, err := b.run(t.Context(), t, `cat "${4#@}"`+"\n"+over)
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(output(t, result.Artifacts)), &all))
	return all
}

func TestVariables(t *testing.T) {
	t.Parallel()
	meta := map[string]any{"name": "sample", "namespace": "default"}
	whole := func(spec map[string]any) map[string]any { return object(spec).Object }
	camel := map[string]any{"sizeOf": "3", "list": []any{map[string]any{"innerName": "{{ x }}", "n": 1.0}, "text"}, "on": true, "none": nil}
	mark := func(text string) map[string]any { return map[string]any{"__ansible_unsafe": text} }
	for _, row := range []struct {
		reason string
		entry  watches.Entry
		spec   any
		change func(in *playbook.Input)
		want   map[string]any
	}{
		{"the fields of the spec in snake_case, and the object as it is", watches.Entry{SnakeCaseParameters: true}, camel, nil, map[string]any{
			"size_of": "3", "list": []any{map[string]any{"inner_name": "{{ x }}", "n": 1.0}, "text"}, "on": true, "none": nil,
			"ansible_operator_meta": meta, "_cache_example_com_memcached": whole(camel), "_cache_example_com_memcached_spec": camel,
		}},
		{"the fields of the spec as they are", watches.Entry{}, camel, nil, map[string]any{
			"sizeOf": "3", "list": camel["list"], "on": true, "none": nil,
			"ansible_operator_meta": meta, "_cache_example_com_memcached": whole(camel), "_cache_example_com_memcached_spec": camel,
		}},
		{"texts that are marked as unsafe, but not those of the entry and the name", watches.Entry{MarkUnsafe: true, Vars: map[string]any{"mine": "{{ y }}"}},
			map[string]any{"a": "{{ x }}", "b": []any{"c", 1.0, map[string]any{"d": "e"}}}, nil, map[string]any{
				"a": mark("{{ x }}"), "b": []any{mark("c"), 1.0, map[string]any{"d": mark("e")}}, "mine": "{{ y }}", "ansible_operator_meta": meta,
				"_cache_example_com_memcached": map[string]any{
					"apiVersion": mark("cache.example.com/v1"), "kind": mark("Memcached"),
					"metadata": map[string]any{"name": mark("sample"), "namespace": mark("default")},
					"spec":     map[string]any{"a": mark("{{ x }}"), "b": []any{mark("c"), 1.0, map[string]any{"d": mark("e")}}},
				},
				"_cache_example_com_memcached_spec": map[string]any{"a": mark("{{ x }}"), "b": []any{mark("c"), 1.0, map[string]any{"d": mark("e")}}},
			}},
		{"no spec", watches.Entry{}, nil, nil, map[string]any{
			"ansible_operator_meta": meta, "_cache_example_com_memcached": whole(map[string]any{}), "_cache_example_com_memcached_spec": map[string]any{},
		}},
		{"a spec that is no object", watches.Entry{SnakeCaseParameters: true}, "text", nil, map[string]any{
			"ansible_operator_meta": meta, "_cache_example_com_memcached": whole(map[string]any{}), "_cache_example_com_memcached_spec": map[string]any{},
		}},
		{"a spec that would be the name or the object", watches.Entry{}, map[string]any{"ansible_operator_meta": "x", "_cache_example_com_memcached": "y"}, nil, map[string]any{
			"ansible_operator_meta":             meta,
			"_cache_example_com_memcached":      whole(map[string]any{"ansible_operator_meta": "x", "_cache_example_com_memcached": "y"}),
			"_cache_example_com_memcached_spec": map[string]any{"ansible_operator_meta": "x", "_cache_example_com_memcached": "y"},
		}},
		{"variables of the entry win over the spec", watches.Entry{Vars: map[string]any{"a": "entry"}, Finalizer: &watches.Finalizer{Vars: map[string]any{"a": "finalizer"}}},
			map[string]any{"a": "spec"}, nil, map[string]any{
				"a": "entry", "ansible_operator_meta": meta, "_cache_example_com_memcached": whole(map[string]any{"a": "spec"}),
				"_cache_example_com_memcached_spec": map[string]any{"a": "spec"},
			}},
		{"variables of the finalizer win over those of the entry",
			watches.Entry{Vars: map[string]any{"a": "entry", "b": "entry"}, Finalizer: &watches.Finalizer{Vars: map[string]any{"a": "finalizer"}}},
			map[string]any{"a": "spec"}, func(in *playbook.Input) { in.Finalizes = true }, map[string]any{
				"a": "finalizer", "b": "entry", "ansible_operator_meta": meta, "_cache_example_com_memcached": whole(map[string]any{"a": "spec"}),
				"_cache_example_com_memcached_spec": map[string]any{"a": "spec"},
			}},
		{"a group with a hyphen", watches.Entry{Kind: schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "CertRequest"}}, map[string]any{}, nil, map[string]any{
			"ansible_operator_meta": meta, "_cert_manager_io_certrequest": whole(map[string]any{}), "_cert_manager_io_certrequest_spec": map[string]any{},
		}},
		{"two fields with one name: the one that is spelled so", watches.Entry{SnakeCaseParameters: true}, map[string]any{"aBc": 1.0, "a_bc": 2.0, "xYz": 1.0, "x-yz": 2.0}, nil, map[string]any{
			"a_bc": 2.0, "x_yz": 2.0, "ansible_operator_meta": meta, "_cache_example_com_memcached": whole(map[string]any{"aBc": 1.0, "a_bc": 2.0, "xYz": 1.0, "x-yz": 2.0}),
			"_cache_example_com_memcached_spec": map[string]any{"aBc": 1.0, "a_bc": 2.0, "xYz": 1.0, "x-yz": 2.0},
		}},
	} {
		t.Run("hooks 66: "+row.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{})
			if row.entry.Kind.Empty() {
				row.entry.Kind = b.in.Entry.Kind
			}
			b.in.Entry = &row.entry
			b.in.Object = &unstructured.Unstructured{Object: whole(nil)}
			b.in.Object.Object["spec"] = row.spec
			if row.change != nil {
				row.change(&b.in)
			}
			before := b.in.Object.DeepCopy()
			assert.Equal(t, row.want, b.variables(t))
			assert.Equal(t, before, b.in.Object, "the object isn't changed")
		})
	}
	for _, name := range []string{"ansible_python_interpreter", "ansibleConnection", "ansible-host", "ansible host"} {
		t.Run("hooks 66: a field that would control Ansible is an error: "+name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, playbook.Config{})
			b.in.Object = object(map[string]any{name: "x"})
			_, err := b.run(t.Context(), t, over)
			assert.Equal(t, playbook.NotStarted, stop(t, err).Cause)
			require.ErrorContains(t, err, "spec: a field would set the variable ansible_")
			assert.Empty(t, b.running(t))
		})
	}
}
