package boot

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quotes are the quotation marks that an env file, a form or a chat may leave around a value.
const quotes = "\"'`“”„‘’«»"

// ValueFault says what is wrong with the text of a setting or of one element of it, whatever the setting means; "" means
// nothing is. It never repeats the text, which may be a secret.
func ValueFault(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case text == "":
		return "is set, but empty: give it a value, or unset it"
	case strings.TrimSpace(text) == "":
		return "holds nothing but white space: give it a value, or unset it"
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case last == '\r':
		return "ends in a carriage return: the file that sets it has the line ends of Windows"
	case unicode.IsSpace(first) || unicode.IsSpace(last):
		return "begins or ends with white space"
	case strings.ContainsRune(quotes, first) || strings.ContainsRune(quotes, last):
		return "begins or ends with a quotation mark, which is taken as a part of the value: write it without quotes"
	}
	if at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }); at >= 0 {
		return fmt.Sprintf("holds a character that cannot be seen, at byte %d", at)
	}
	return ""
}

// valueFaults holds the text of each setting of the environment against the rules of all, and takes those with a fault out
// of it. Elements of a list are held against them one by one.
func valueFaults(environment map[string]string) (faults []error) {
	for f := range reflect.TypeFor[Settings]().Fields() {
		name := f.Tag.Get("env")
		text, set := environment[name]
		if !set {
			continue
		}
		fault := ValueFault(text)
		if strings.Contains(text, ",") && f.Type.Kind() == reflect.Slice {
			fault = elementFault(text)
		}
		if fault != "" {
			delete(environment, name)
			faults = append(faults, fmt.Errorf("%s: %s", name, fault))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		if !strings.HasPrefix(name, deployPrefix) {
			continue
		}
		if fault := ValueFault(environment[name]); fault != "" {
			faults = append(faults, fmt.Errorf("%s: %s", name, fault))
		}
	}
	return faults
}

// deployPrefix begins the settings of programs that ready a deployment, beside those of all.
const deployPrefix = "BELFRY_DEPLOY_"

// elementFault is the first fault of an element of a list with commas.
func elementFault(list string) string {
	elements := strings.Split(list, ",")
	for i, element := range elements {
		switch fault := ValueFault(element); {
		case element == "":
			return fmt.Sprintf("element %d of %d is empty", i+1, len(elements))
		case fault != "":
			return fmt.Sprintf("element %d of %d %s", i+1, len(elements), fault)
		}
	}
	return ""
}

// Variable reads one variable of the environment that is no setting of a process, such as the command line's BELFRY_URL,
// by the rules of all settings. Text "" means that it is not set.
func Variable(lookup func(string) (string, bool), name string) (text string, err error) {
	text, set := lookup(name)
	if !set {
		return "", nil
	}
	if fault := ValueFault(text); fault != "" {
		return "", fmt.Errorf("%s: %s", name, fault)
	}
	return text, nil
}

// environment is that of this process, with what a program has by itself for settings that are not set.
func environment(defaults map[string]string) (all map[string]string, faults []error) {
	all = map[string]string{}
	for _, variable := range os.Environ() {
		if name, value, ok := strings.Cut(variable, "="); ok {
			all[name] = value
		}
	}
	faults = valueFaults(all)
	for name, value := range defaults {
		if _, set := all[name]; !set {
			all[name] = value
		}
	}
	return all, slices.Clip(faults)
}
