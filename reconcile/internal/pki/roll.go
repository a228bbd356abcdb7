package pki

import "time"

// Times are the times of an Authority.
type Times struct {
	// Life is how long a CA is valid, and Leaf how long a leaf is.
	Life, Leaf time.Duration
	// Wait is how long the stages Trusting and Reissuing last after Spread.
	Wait time.Duration
}

// Advance returns the next state of a CA, and whether it differs from a. name is the common name of a new CA; asked
// begins a replacement before it is due. There is at most one step in a call, and each step is one write:
//
//	Steady     the CA is due, or asked is true   ->  Trusting, with a new CA, which the old one signs
//	Trusting   Wait has passed since Spread      ->  Reissuing; the key of the old CA is gone
//	Reissuing  Wait has passed since Spread      ->  Steady, without the old CA
//
// A stage whose Spread doesn't come ends nevertheless, see Latest.
func (a Authority) Advance(now time.Time, name string, asked bool, times Times) (Authority, bool, error) {
	switch a.Stage() {
	case Steady:
		if !asked && now.Before(a.due(times)) {
			return a, false, nil
		}
		next, err := NewCA(now, name, times.Life)
		if err != nil {
			return a, false, err
		}
		cross, err := CrossSign(a.Current, next, now)
		if err != nil {
			return a, false, err
		}
		return Authority{Current: a.Current, Next: next, Cross: cross}, true, nil
	case Trusting:
		if !a.Waited(now, times) && now.Before(a.Latest()) {
			return a, false, nil
		}
		old := Pair{CertPEM: certificatePEM(a.Current.Cert.Raw), Cert: a.Current.Cert}
		return Authority{Current: a.Next, Previous: old, Cross: a.Cross}, true, nil
	}
	if !a.Waited(now, times) && now.Before(a.Latest()) {
		return a, false, nil
	}
	return Authority{Current: a.Current}, true, nil
}

// Latest returns the time at which a stage ends although Spread and Wait haven't come, because nobody would gain by a
// longer wait; zero if the stage is Steady.
//
// Trusting ends when two thirds of the rest of the old CA's life have passed: the leaves of the old CA expire with it,
// so that programs need the last third to take new ones. Reissuing ends when the old CA has expired, or when the new
// one is so old that it has to be replaced itself.
func (a Authority) Latest() time.Time {
	switch a.Stage() {
	case Trusting:
		began := a.Next.Cert.NotBefore.Add(skew)
		return began.Add(a.Current.Cert.NotAfter.Sub(began) / 3 * 2)
	case Reissuing:
		if due := Due(a.Current.Cert); due.Before(a.Previous.Cert.NotAfter) {
			return due
		}
		return a.Previous.Cert.NotAfter
	}
	return time.Time{}
}

// MarkSpread returns a with the time Spread, and whether that differs from a. A time in the future, from a clock that
// was wrong, is corrected.
func (a Authority) MarkSpread(now time.Time) (Authority, bool) {
	if a.Stage() == Steady || !a.Spread.IsZero() && !a.Spread.After(now) {
		return a, false
	}
	a.Spread = now
	return a, true
}

// Until returns the time at which Advance has something to do, unless MarkSpread comes before.
func (a Authority) Until(times Times) time.Time {
	if a.Stage() == Steady {
		return a.due(times)
	}
	latest := a.Latest()
	if waited := a.Spread.Add(times.Wait); !a.Spread.IsZero() && waited.Before(latest) {
		return waited
	}
	return latest
}

// due is the time at which a CA is replaced: when two thirds of its life have passed, or earlier, if a leaf and the
// replacement wouldn't fit into the rest of its life.
func (a Authority) due(times Times) time.Time {
	due, last := Due(a.Current.Cert), a.Current.Cert.NotAfter.Add(-times.Leaf-2*times.Wait)
	if last.Before(due) && last.After(a.Current.Cert.NotBefore) {
		return last
	}
	return due
}

// Waited reports whether the time Wait has passed since Spread.
func (a Authority) Waited(now time.Time, times Times) bool {
	return !a.Spread.IsZero() && !now.Before(a.Spread.Add(times.Wait))
}
