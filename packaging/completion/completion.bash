# Completion of tailrace, tailrace-producer and tailrace-consumer. The tables above say which words there are; what a
# word stands for, a ring or a group, is looked up when it is asked for.
# shellcheck shell=bash disable=SC2154  # the tables

_tailrace_root=  # in front of /dev and /etc; for tests

_tailrace_rings() {
  local file
  for file in "$_tailrace_root"/dev/shm/tailrace.*.ctl; do
    [[ -e $file ]] || continue
    file=${file##*/tailrace.}
    echo "${file%.ctl}"
  done
}

# _tailrace_groups FILE: the groups of a configuration; of one without any, the default.
_tailrace_groups() {
  local line inside='' found=''
  [[ -r $1 ]] || return 0
  while IFS= read -r line; do
    if [[ $line =~ ^[[:space:]]*\[ ]]; then
      inside=
      [[ $line =~ ^[[:space:]]*\[\[[[:space:]]*group[[:space:]]*\]\] ]] && inside=1
    elif [[ $inside && $line =~ ^[[:space:]]*name[[:space:]]*=[[:space:]]*[\"\']([A-Za-z0-9_-]+) ]]; then
      found=1
      echo "${BASH_REMATCH[1]}"
    fi
  done <"$1"
  [[ $found ]] || echo main
}

# _tailrace_installed [SUFFIX]: PIPELINE:GROUP of everything in /etc/tailrace.
_tailrace_installed() {
  local file group
  for file in "$_tailrace_root"/etc/tailrace/*.toml; do
    [[ -e $file ]] || continue
    for group in $(_tailrace_groups "$file"); do
      file=${file##*/}
      echo "${file%.toml}:$group${1-}"
    done
  done
}

# _tailrace_settings FILE: KEY= for each key, for keys of groups once for each group.
_tailrace_settings() {
  local key group
  for key in "${!_tailrace_keys[@]}"; do
    if [[ $key != group.* ]]; then
      echo "$key="
    else
      for group in $(_tailrace_groups "$1"); do echo "group.$group.${key#group.}="; done
    fi
  done
}

# _tailrace_offer CURRENT WORD…: those words that begin as CURRENT does. Readline has split CURRENT at = and :, and
# wants only what comes after the last of them.
_tailrace_offer() {
  local current=$1 word before=
  shift
  [[ $COMP_WORDBREAKS == *[=:]* ]] && before=${current%"${current##*[=:]}"}
  for word; do
    [[ $word == "$current"* ]] || continue
    [[ $word == *[=:] ]] && compopt -o nospace 2>/dev/null
    COMPREPLY+=("${word#"$before"}")
  done
}

# _tailrace_value KIND VALUE FILE BEFORE: what can be in the place of VALUE; BEFORE stands in front of it in its word.
_tailrace_value() {
  local kind=$1 value=$2 file=$3 before=$4 words=()
  case $kind in
    FILE) cur=$value; _filedir toml; return ;;
    FILE.*) cur=$value; _filedir "${kind#FILE.}"; return ;;
    DIR) cur=$value; _filedir -d; return ;;
    NAME) mapfile -t words < <(_tailrace_rings) ;;
    GROUP) mapfile -t words < <(_tailrace_groups "$file") ;;
    PIPELINE:GROUP) mapfile -t words < <(_tailrace_installed) ;;
    PIPELINE:GROUP:N) mapfile -t words < <(_tailrace_installed :) ;;
    KEY=VALUE)
      if [[ $value == *=* ]]; then
        local key=${value%%=*}
        [[ $key =~ ^group\.[^.]+\.(.*)$ ]] && key=group.${BASH_REMATCH[1]}
        read -ra words <<<"${_tailrace_keys[$key]-}"
        words=("${words[@]/#/${value%%=*}=}")
      else
        mapfile -t words < <(_tailrace_settings "$file")
      fi
      ;;
    *'|'*) IFS='|' read -ra words <<<"$kind" ;;
  esac
  _tailrace_offer "$before$value" "${words[@]/#/$before}"
}

_tailrace() {
  local cur words cword
  _get_comp_words_by_ref -n =: cur words cword
  local command=${words[0]##*/} kind='' file='' given=0 arguments=() offered=() word i
  for ((i = 1; i < cword; i++)); do
    word=${words[i]}
    if [[ $kind ]]; then
      [[ $kind == FILE ]] && file=$word
      kind=
    elif [[ $word == --*=* ]]; then
      [[ ${_tailrace_values[$command ${word%%=*}]-} == FILE ]] && file=${word#*=}
    elif [[ $word == -* ]]; then
      kind=${_tailrace_values[$command $word]-}
    elif [[ " ${_tailrace_commands[$command]-} " == *" $word "* ]]; then
      command+=" $word"
    else
      read -ra arguments <<<"${_tailrace_arguments[$command]-}"
      [[ ${arguments[given]-} == FILE ]] && file=$word
      ((given++))
    fi
  done

  COMPREPLY=()
  if [[ $kind ]]; then
    _tailrace_value "$kind" "$cur" "$file" ""
  elif [[ $cur == --*=* ]]; then
    _tailrace_value "${_tailrace_values[$command ${cur%%=*}]-}" "${cur#*=}" "$file" "${cur%%=*}="
  elif [[ $cur == -* ]]; then
    read -ra offered <<<"${_tailrace_options[$command]-}"
    _tailrace_offer "$cur" "${offered[@]}"
  elif [[ ${_tailrace_commands[$command]-} ]]; then
    read -ra offered <<<"${_tailrace_commands[$command]}"
    _tailrace_offer "$cur" "${offered[@]}"
  else
    read -ra arguments <<<"${_tailrace_arguments[$command]-}"
    _tailrace_value "${arguments[given]-}" "$cur" "$file" ""
  fi
}

complete -F _tailrace tailrace tailrace-producer tailrace-consumer
