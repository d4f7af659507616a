import { TASKS, type Task } from '../../../shared/tasks.ts'
import { chooseTask, task } from '../../state/chosen-task.ts'
import { TaskPicture } from './task-picture.tsx'

/** Offers tasks. Each fills in prompts and format, and decides which output is heard first. */
export function Tasks() {
  const { name } = task.value
  return (
    <fieldset class="tasks">
      <legend>Task</legend>
      <div class="task-cards">
        {TASKS.map((one) => (
          <button
            key={one.name}
            type="button"
            aria-pressed={one.name === name}
            title={whatIsDone(one)}
            onClick={() => chooseTask(one)}
          >
            <TaskPicture word={one.word} />
            {one.name}
          </button>
        ))}
      </div>
      <p class="quiet">{whatIsDone(task.value)}</p>
    </fieldset>
  )
}

const whatIsDone = ({ does, format }: Task): string => `${does}, in ${format.toUpperCase()}.`
