package smp

import (
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
)

// scalars puts into patch how a list of scalars differs that merges as a set.
func (d *differ) scalars(patch *patchMap, key string, old, value []any) (bool, error) {
	before := &d.borrow(len(old)).known
	defer d.giveBack()
	ids := make([]any, len(value))
	for i, element := range value {
		ids[i], _ = document.Scalar(element)
	}
	if !canonicalAll(before, old) || !ofOneType(old, value) {
		return false, nil
	}
	m, apart := matchIDs(before, ids)
	if !apart {
		return false, nil
	}
	var added, removed []any
	var named []int
	for i, at := range m.at {
		if at < 0 {
			added, named = append(added, value[i]), append(named, i)
		}
	}
	for i, stays := range m.stays {
		if !stays {
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
