// Command dashboard writes the dashboard for Grafana that shows what package metrics measures.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

//go:generate go run .

// file is where it goes, seen from the folder of this program.
const file = "../grafana.json"

func main() {
	text, err := json.MarshalIndent(dashboard(), "", "  ")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboard:", err)
		os.Exit(1)
	}
}
