package edit

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// mostPairs is how many pairs of fields are edited of one object at most.
const mostPairs = 10

// pairs returns edits of two fields of one object: of each field and the next one, and of the first field that is a
// switch and each other one.
func pairs(all []Edit) (both []Edit) {
	for _, group := range siblings(all) {
		toggle := 0
		for toggle < len(group) && !isSwitch(group[toggle].at.schema) {
			toggle++
		}
		count := 0
		for i := range group {
			for j := i + 1; j < len(group) && count < mostPairs; j++ {
				if j == i+1 || i == toggle || j == toggle {
					both = append(both, together(group[i], group[j]))
					count++
				}
			}
		}
	}
	return both
}

// siblings returns the edits of the fields of each object, of each field one.
func siblings(all []Edit) (groups [][]Edit) {
	index := map[*location]int{}
	for _, one := range all {
		parent := one.at.parent
		if one.Rank != OneField || shapeOf(parent.schema) != objectField {
			continue
		}
		at, known := index[parent]
		if !known {
			at = len(groups)
			index[parent] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], one)
	}
	return groups
}

// isSwitch reports whether a field often decides what other fields mean.
func isSwitch(schema map[string]any) bool {
	return schema["type"] == "boolean" || schema["enum"] != nil
}

func together(a, b Edit) Edit {
	return Edit{
		Name: a.Name + ", " + b.Name, Rank: TwoFields, at: a.at, First: &a,
		Paths: append(append([]string(nil), a.Paths...), b.Paths...),
		Do: func(obj *unstructured.Unstructured) {
			a.Do(obj)
			b.Do(obj)
		},
	}
}
