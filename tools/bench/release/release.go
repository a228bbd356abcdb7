package release

import "os"

// Variable is the environment variable that names the release: "2" or "3". With any other value, or without the
// variable, a program runs as the first release, which is the measured one.
const Variable = "BENCH_RELEASE"

// Release has the differences between the releases.
type Release struct {
	// Size is set if the size is rendered: as a ConfigMap, and as the variable SIZE of the container.
	Size bool
	// CPU is the container's CPU request, in the form in which it is rendered.
	CPU string
	// Name is set if the container gets the Bundle's name, as the variable NAME.
	Name bool
	// Token is set if a Bundle has one more child, a Secret whose name the API server generates.
	Token bool
}

// Current returns the release that runs.
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
