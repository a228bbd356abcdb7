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
//	Steady     the CA is due, or asked is true   ->  Trusting, with a new CA
//	Trusting   Wait has passed since Spread      ->  Reissuing; the key of the old CA is gone
//	Reissuing  Wait has passed since Spread      ->  Steady, without the old CA
//
// If the old CA has expired, nobody can rely on it any more, and Trusting doesn't wait.
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
		return Authority{Current: a.Current, Next: next}, true, nil
	case Trusting:
		if !a.waited(now, times) && now.Before(a.Current.Cert.NotAfter) {
			return a, false, nil
		}
		old := Pair{CertPEM: certificatePEM(a.Current.Cert.Raw), Cert: a.Current.Cert}
		return Authority{Current: a.Next, Previous: old}, true, nil
	}
	if !a.waited(now, times) {
		return a, false, nil
	}
	return Authority{Current: a.Current}, true, nil
}

// MarkSpread returns a with the time at which the Secrets of all leaves had what the stage is about, and whether that
// differs from a. A time in the future, from a clock that was wrong, is corrected.
func (a Authority) MarkSpread(now time.Time) (Authority, bool) {
	if a.Stage() == Steady || !a.Spread.IsZero() && !a.Spread.After(now) {
		return a, false
	}
	a.Spread = now
	return a, true
}

// Until returns the time at which Advance has something to do; zero if it waits for MarkSpread.
func (a Authority) Until(times Times) time.Time {
	switch {
	case a.Stage() == Steady:
		return a.due(times)
	case a.Spread.IsZero():
		return time.Time{}
	}
	return a.Spread.Add(times.Wait)
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

func (a Authority) waited(now time.Time, times Times) bool {
	return !a.Spread.IsZero() && !now.Before(a.Spread.Add(times.Wait))
}
