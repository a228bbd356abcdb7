package process

import (
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Roomy gives an environment to compilers: it lets them take more memory, so that they collect less garbage, which takes a
// tenth of the time. A GOGC that is set stays. env, nil for that of this process, is not changed.
func Roomy(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	if slices.ContainsFunc(env, func(one string) bool { return strings.HasPrefix(one, "GOGC=") }) {
		return env
	}
	return append(slices.Clone(env), "GOGC=400")
}

// Yielding gives the words of a command that lets others have the processors first, where the system has nice.
func Yielding(words ...string) []string {
	if nice, err := exec.LookPath("nice"); err == nil {
		return append([]string{nice, "-n", "10"}, words...)
	}
	return words
}
