package document

// Uniform goes through lists whose objects mostly have the same few keys, as most lists have. To look
// for known keys is quicker than to go through a map. It guesses that an object has the keys of the
// one before; where that is wrong it answers false, whatever the truth, and the next guess is
// another. The zero value is ready for use. The ratios smp-detached and smp-diff pay for it.
type Uniform struct {
	keys  [uniformKeys]string
	count int
}

// uniformKeys is how many keys an object may have to be worth a guess.
const uniformKeys = 4

// Scalars tells that an object holds nothing but strings, int64 and bool.
func (u *Uniform) Scalars(object map[string]any) bool {
	if len(object) != u.count {
		u.learn(object)
		return false
	}
	for _, key := range u.keys[:u.count] {
		switch object[key].(type) {
		case string, int64, bool:
		default:
			u.learn(object)
			return false
		}
	}
	return true
}

// Same tells that two objects hold nothing but strings, int64 and bool, and the same ones.
func (u *Uniform) Same(a, b map[string]any) bool {
	if len(a) != u.count || len(b) != u.count {
		u.learn(a)
		return false
	}
	for _, key := range u.keys[:u.count] {
		if !sameScalar(a[key], b[key]) {
			u.learn(a)
			return false
		}
	}
	return true
}

// learn takes the keys of an object for the next guess.
func (u *Uniform) learn(object map[string]any) {
	u.count = 0
	if len(object) > uniformKeys {
		return
	}
	for key := range object {
		u.keys[u.count] = key
		u.count++
	}
}

func sameScalar(a, b any) bool {
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
