package main

// lab has the repositories that are measured.
type lab struct{ large, small, crowded string }

// newLab returns the repositories, and generates missing ones.
func newLab() (l lab, err error) {
	for _, one := range []struct {
		fixture fixture
		path    *string
	}{{large, &l.large}, {small, &l.small}, {crowded, &l.crowded}} {
		if *one.path, err = one.fixture.path(); err != nil {
			return l, err
		}
	}
	return l, nil
}
