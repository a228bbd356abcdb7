package document

// Uniform reads the objects of a list, which mostly have the same few keys. It guesses that an object has the keys of
// the previous object, because looking up known keys is quicker than iterating over a map. If the guess is wrong,
// Uniform reads the keys of the object. The zero value is ready for use. The benchmark ratios smp-detached and smp-diff
// depend on Uniform.
type Uniform struct {
	keys  [uniformKeys]string
	count int
}

// uniformKeys is the maximum number of keys for which a guess is worthwhile.
const uniformKeys = 4

// Scalars reports whether an object holds one to four values, all of them string, int64 or bool. It also returns false
// for a larger object.
func (u *Uniform) Scalars(object map[string]any) bool {
	return len(object) == u.count && u.scalars(object) || u.takeKeys(object) && u.scalars(object)
}

func (u *Uniform) scalars(object map[string]any) bool {
	for _, key := range u.keys[:u.count] {
		switch object[key].(type) {
		case string, int64, bool:
		default:
			return false
		}
	}
	return true
}

// Same reports whether two objects hold the same one to four values: strings, int64, bool, or objects of these. It also
// returns false for larger objects.
func (u *Uniform) Same(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == u.count && u.same(a, b) || u.takeKeys(a) && u.same(a, b)
}

func (u *Uniform) same(a, b map[string]any) bool {
	for _, key := range u.keys[:u.count] {
		x, y := a[key], b[key]
		if SameScalar(x, y) {
			continue
		}
		inner, isObject := x.(map[string]any)
		if other, both := y.(map[string]any); !isObject || !both || !sameScalars(inner, other) {
			return false
		}
	}
	return true
}

func sameScalars(a, b map[string]any) bool {
	if len(a) != len(b) || len(a) > uniformKeys {
		return false
	}
	for key, value := range a {
		if !SameScalar(value, b[key]) {
			return false
		}
	}
	return true
}

// takeKeys stores the keys of an object for the next guess, and reports whether a guess is worthwhile.
func (u *Uniform) takeKeys(object map[string]any) bool {
	u.count = 0
	if len(object) > uniformKeys {
		return false
	}
	for key := range object {
		u.keys[u.count] = key
		u.count++
	}
	return u.count > 0
}

// SameScalar reports quickly whether two scalars are equal. It also returns false for scalars that it can't compare
// quickly.
func SameScalar(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, both := b.(string)
		return both && a == b
	case int64:
		b, both := b.(int64)
		return both && a == b
	case bool:
		b, both := b.(bool)
		return both && a == b
	default:
		return false
	}
}
