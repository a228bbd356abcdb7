package playbook

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// variables returns the extra variables of a run. The later ones win: the fields of the spec, the name and the namespace
// of the object, the object, the variables of the entry, and those of the finalizer.
func (in *Input) variables() (map[string]any, error) {
	spec, _ := in.Object.Object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	all, err := in.parameters(spec)
	if err != nil {
		return nil, err
	}
	all["ansible_operator_meta"] = map[string]any{"name": in.Object.GetName(), "namespace": in.Object.GetNamespace()}
	kind := in.Entry.Kind
	name := strings.NewReplacer(".", "_", "-", "_").Replace("_" + kind.Group + "_" + strings.ToLower(kind.Kind))
	all[name] = in.marked(withSpec(in.Object.Object, spec))
	all[name+"_spec"] = in.marked(spec)
	maps.Copy(all, in.Entry.Vars)
	if in.Finalizes && in.Entry.Finalizer != nil {
		maps.Copy(all, in.Entry.Finalizer.Vars)
	}
	return all, nil
}

// withSpec returns an object that has a spec.
func withSpec(object, spec map[string]any) map[string]any {
	with := maps.Clone(object)
	with["spec"] = spec
	return with
}

// parameters returns the fields of the spec as variables.
func (in *Input) parameters(spec map[string]any) (map[string]any, error) {
	all := maps.Clone(spec)
	if in.Entry.SnakeCaseParameters {
		all, _ = snakeCaseKeys(spec).(map[string]any)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, "ansible_") && name != "ansible_operator_meta" {
			return nil, fmt.Errorf("spec: a field would set the variable %s, by which Ansible itself is controlled: rename the field", name)
		}
		all[name] = in.marked(all[name])
	}
	return all, nil
}

// marked returns a value in which all texts are marked as unsafe, if the entry wants it: Ansible doesn't evaluate them
// as templates then.
func (in *Input) marked(value any) any {
	if !in.Entry.MarkUnsafe {
		return value
	}
	return unsafe(value)
}

// unsafe returns a value in which all texts are marked as Ansible's decoder of JSON wants it.
func unsafe(value any) any {
	switch value := value.(type) {
	case string:
		return map[string]any{"__ansible_unsafe": value}
	case map[string]any:
		marked := make(map[string]any, len(value))
		for name, field := range value {
			marked[name] = unsafe(field)
		}
		return marked
	case []any:
		marked := make([]any, len(value))
		for i, item := range value {
			marked[i] = unsafe(item)
		}
		return marked
	default:
		return value
	}
}
