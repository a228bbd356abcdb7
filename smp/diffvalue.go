package smp

import "slices"

// replacement is the patch that replaces a map.
func (d *differ) replacement(value map[string]any) (map[string]any, error) {
	copied, err := d.literal(value)
	if err != nil {
		return nil, err
	}
	patch := copied.(map[string]any)
	patch[patchDirective] = replaceValue
	return patch, nil
}

// copied returns a copy of a value for a patch. ok is false if applying the patch would lose a part of the value.
func (d *differ) copied(value any) (taken any, ok bool, err error) {
	if taken, err = d.literal(value); err != nil || holdsNull(taken) {
		return nil, false, err
	}
	return taken, true, nil
}

// literal returns a copy of a value for a patch that replaces.
func (d *differ) literal(value any) (any, error) {
	copied, err := d.clone(value)
	if err != nil {
		return nil, err
	}
	if key, found := findDirective(copied); found {
		return nil, d.fail(Invalid, "a document can't hold a directive of patches: remove %q", key)
	}
	return copied, nil
}

// holdsNull reports whether any field in a value is null. The value has been copied before, so it can't contain itself.
func holdsNull(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, field := range value {
			if field == nil || holdsNull(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsNull)
	}
	return false
}

// findDirective returns the first directive by name, anywhere in a value. The value has been copied before, so it can't
// contain itself.
func findDirective(value any) (key string, found bool) {
	switch value := value.(type) {
	case map[string]any:
		first := ""
		for name, field := range value {
			directive, has := name, isDirective(name)
			if !has {
				directive, has = findDirective(field)
			}
			if has && (!found || name < first) {
				key, first, found = directive, name, true
			}
		}
		return key, found
	case []any:
		for _, element := range value {
			if key, found := findDirective(element); found {
				return key, true
			}
		}
	}
	return "", false
}
