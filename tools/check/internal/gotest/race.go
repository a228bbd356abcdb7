package gotest

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
)

// program is a minimal C program. Like cgo it needs a compiler, a linker and the headers of the C library.
const program = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"

// RaceDetector reports whether tests can run under the race detector, which needs cgo and a C compiler that works. If
// ok is false, reason says why. env is the environment as os.Environ returns it.
func RaceDetector(ctx context.Context, env []string) (ok bool, reason string, err error) {
	type settings struct{ CGO_ENABLED, CC string }
	found, err := process.One[settings](ctx, process.Command(ctx, "", env, "go", "env", "-json", "CGO_ENABLED", "CC"))
	if err != nil {
		return false, "", err
	}
	compiler := strings.Fields(found.CC)
	if len(compiler) == 0 {
		return false, "no C compiler is configured", nil
	}
	cmd := process.Command(ctx, "", env, compiler[0], append(compiler[1:], "-o", os.DevNull, "-x", "c", "-")...)
	cmd.Stdin = strings.NewReader(program)
	switch works := process.Run(ctx, cmd) == nil; {
	case !works:
		return false, fmt.Sprintf("the C compiler %s does not work; install gcc and the headers of the C library", compiler[0]), nil
	case found.CGO_ENABLED == "0":
		return false, "CGO_ENABLED is 0", nil
	}
	return true, "", nil
}
