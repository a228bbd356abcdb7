package version

import (
	"fmt"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Change is the greatest change of a module for its users. A greater change may come with smaller changes.
type Change int

const (
	// None is no change.
	None Change = iota
	// Fixed is a change that no caller has to know about.
	Fixed
	// Added is a change that only adds something.
	Added
	// Breaking is a change after which a caller may not compile any more.
	Breaking
)

// String returns the word for the change in a plan.
func (c Change) String() string { return [...]string{"none", "fixed", "added", "breaking"}[c] }

// MarshalText implements encoding.TextMarshaler.
func (c Change) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// First returns the first version of a module: v0.1.0, or the first version of the major version in its path.
func First(modulePath string) string {
	if major := majorOf(modulePath); major != "" {
		return major + ".0.0"
	}
	return "v0.1.0"
}

// Next returns the next version of a module after last, which is a version like v1.2.3:
//
//   - below v1 additions and breaking changes make the next minor version, and anything else the next patch;
//   - from v1 on additions make the next minor version, and breaking changes the next major version. A major version
//     from v2 on is part of the module's path: a path without it is an error that says what to do.
func Next(modulePath, last string, change Change) (string, error) {
	major, minor, patch, err := parse(last)
	if err != nil {
		return "", err
	}
	next := func(major, minor, patch int) string { return fmt.Sprintf("v%d.%d.%d", major, minor, patch) }
	switch {
	case change == None:
		return last, nil
	case change == Fixed:
		return next(major, minor, patch+1), nil
	case change == Added || major == 0:
		return next(major, minor+1, 0), nil
	}
	version := next(major+1, 0, 0)
	if err := module.Check(modulePath, version); err != nil {
		base, _, _ := module.SplitPathVersion(modulePath)
		return "", fmt.Errorf("module %s: it breaks callers of %s, so its path has to become %s/v%d: change the path in go.mod and in imports, or don't break callers",
			modulePath, last, base, major+1)
	}
	return version, nil
}

// Latest returns the highest released version among tags, or "" if there is none. It ignores tags of other modules,
// tags of major versions that don't fit the path, and pre-releases. prefix is the beginning of the module's tags.
func Latest(modulePath, prefix string, tags []string) string {
	latest := ""
	for _, tag := range tags {
		version, mine := strings.CutPrefix(tag, prefix)
		if !mine || semver.Canonical(version) != version || semver.Prerelease(version) != "" || module.Check(modulePath, version) != nil {
			continue
		}
		if latest == "" || semver.Compare(version, latest) > 0 {
			latest = version
		}
	}
	return latest
}

func majorOf(modulePath string) string {
	_, suffix, _ := module.SplitPathVersion(modulePath)
	return strings.TrimLeft(suffix, "/.")
}

func parse(version string) (major, minor, patch int, err error) {
	if !semver.IsValid(version) || semver.Canonical(version) != version || semver.Prerelease(version) != "" {
		return 0, 0, 0, fmt.Errorf("version %q: want a version like v1.2.3", version)
	}
	if _, err = fmt.Sscanf(version, "v%d.%d.%d", &major, &minor, &patch); err != nil {
		err = fmt.Errorf("version %q: %w", version, err)
	}
	return major, minor, patch, err
}
