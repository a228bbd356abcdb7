package release

import "os"

// Variable is the environment variable that names the release: "2" or "3". With anything else, and with nothing, a
// program is the first one, which is what is measured.
const Variable = "BENCH_RELEASE"

// Release is what may differ from release to release.
type Release struct {
	// Size is set if the size is rendered: as a ConfigMap, and as the variable SIZE of the container.
	Size bool
	// CPU is what the container requests, as it is written.
	CPU string
	// Name is set if the container gets the Bundle's name, as the variable NAME.
	Name bool
	// Token is set if a Bundle has one more child, a Secret whose name the API server generates.
	Token bool
}

// Current is the release that runs.
func Current() Release { return named(os.Getenv(Variable)) }

func named(name string) Release {
	switch name {
	case "2":
		return Release{CPU: "100m"}
	case "3":
		return Release{Size: true, CPU: "1000m", Name: true, Token: true}
	}
	return Release{Size: true, CPU: "100m"}
}
