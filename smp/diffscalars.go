package smp

import (
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
)

// scalars puts into patch how a list of scalars differs that merges as a set.
func (d *differ) scalars(patch *patchMap, key string, old, value []any) (bool, error) {
	l := d.borrow(len(old))
	defer d.giveBack()
	m := &l.matches
	m.reset(len(old), len(value))
	for _, element := range value {
		id, _ := document.Scalar(element)
		m.ids = append(m.ids, id)
	}
	if !canonicalAll(&l.known, old) || !ofOneType(old, value) || !m.find(&l.known) {
		return false, nil
	}
	var added, removed []any
	var named []int
	for i, at := range m.at {
		if at < 0 {
			added, named = append(added, value[i]), append(named, i)
		}
	}
	for i, at := range m.after {
		if at < 0 {
			removed = append(removed, old[i])
		}
	}
	if len(added) > 0 {
		patch.set(key, added)
	}
	if len(removed) > 0 {
		patch.set(deleteDirective+"/"+key, removed)
	}
	if !d.comesOut(m, named) {
		patch.set(orderDirective+"/"+key, slices.Clone(value))
	}
	return true, nil
}

// ofOneType tells whether all elements are scalars of one type.
func ofOneType(lists ...[]any) bool {
	all := slices.Concat(lists...)
	return !slices.ContainsFunc(all, func(value any) bool { return kindOfElement(value) != kindOfElement(all[0]) })
}
